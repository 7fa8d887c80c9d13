"""Four small invented papers that the LitBench systems' tests search."""

from __future__ import annotations

from litsynth.records import Paper, Section

RELAPSE = "Relapse occurred in 102 of 204 adults given zelamine over two years."
DOSE = "Pregnant rats tolerated brontide up to a dose of 40 mg daily."
PAPERS = {
    paper.id: paper for paper in (
        Paper("A1", "gold", "epilepsy", "Zelamine in adults", (
            Section("Introduction", "We aimed to determine how often relapse occurs in adults given zelamine. "
                    "Seizures are common.", "introduction"),
            Section("Results", f"The trial enrolled 204 adults. {RELAPSE} No adult died. Growth was not measured.",
                    "results"),
        )),
        Paper("B2", "gold", "epilepsy", "Brontide in pregnancy", (
            Section("Results", f"Rats were housed in pairs. {DOSE} Litters were of normal size.", "results"),
        )),
        Paper("C3", "decoy", "oncology", "Growth of northern barley", (
            Section("Results", "Barley grew slowly on northern plots. Yield fell by a third in wet years.", "results"),
        )),
        Paper("D4", "decoy", "oncology", "", ()),
    )
}
SINGLE = "How often did relapse occur in adults given zelamine?"
DOUBLE = f"{SINGLE} And, from a separate study: up to which dose did pregnant rats tolerate brontide?"
