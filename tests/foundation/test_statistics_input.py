"""Values that are no column of numbers are refused by name wherever an estimate is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from litsynth import stats
from litsynth.errors import DataError


@pytest.mark.parametrize("values", [np.array([[1, 2], [3, 4]]), [10**400, 1], None, 5, [[1.0], [2.0]]])
def test_what_is_no_column_of_numbers_is_refused(values):
    for estimate in (stats.mean_bootstrap, lambda v, seed: stats.cluster_bootstrap(v, [1, 2], seed=seed),
                     lambda v, seed: stats.paired_bootstrap(v, v, seed=seed)):
        with pytest.raises(DataError):
            estimate(values, seed=0)
