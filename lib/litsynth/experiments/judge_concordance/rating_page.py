"""The page on which a human rates: one cell at a time, saved with each click, without the panel's verdict."""

from __future__ import annotations

import html
from typing import Any

from litsynth.experiments.judge_concordance.rating_store import TABLE, Case, RatingStore, find_sample
from litsynth.experiments.judge_concordance.ratings import CANNOT_TELL, CREDIT, NO_CREDIT, RATINGS

_LABELS = {CREDIT: "Credit", NO_CREDIT: "No credit", CANNOT_TELL: "Cannot tell"}
_HELP = {CREDIT: "The answer states the reference fact, in whatever words",
         NO_CREDIT: "It leaves it out, gives another value or direction, or contradicts it",
         CANNOT_TELL: "The cell then counts for nothing and is reported"}
# The same text colours in a light and a dark theme of JupyterLab.
_BOX = ("max-width: 52em; padding: 0.4em 0.8em; border-left: 4px solid {colour}; margin: 0 0 0.7em 0; "
        "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45; "
        "color: var(--jp-ui-font-color0, #111); background: var(--jp-layout-color1, #fff)")


def case_html(case: Case) -> str:
    """Return the cell as HTML; every text is escaped, so nothing in a paper or an answer is markup."""
    parts = [("Question", case.question, "#0072B2"), ("Reference fact", case.reference_fact, "#009E73"),
             ("Quote behind the reference fact", case.quote, "#009E73"), ("Answer to rate", case.response, "#D55E00")]
    return "".join(
        f'<h4 style="margin: 0 0 0.2em 0">{label}</h4><div style="{_BOX.format(colour=colour)}">'
        f"{html.escape(text) if text.strip() else '<em>(nothing)</em>'}</div>" for label, text, colour in parts)


class RatingPage:
    """A sample's rating page for JupyterLab; the last line of a cell shows it. `widget` is the page itself."""

    def __init__(self, store: RatingStore) -> None:
        self.store = store
        self.place = store.next_unrated() or 0
        self._moving = False
        self._build()
        self._show()

    def _build(self) -> None:
        import ipywidgets as w

        wide = w.Layout(width="auto", min_width="9em", height="2.6em")
        self.title, self.body, self.status = w.HTML(), w.HTML(), w.HTML()
        self.bar = w.IntProgress(value=0, min=0, max=len(self.store.cases), layout=w.Layout(width="20em"))
        # No icons: screen readers would read their code points as part of the button's name.
        self.buttons = {name: w.Button(description=_LABELS[name], tooltip=_HELP[name], layout=wide)
                        for name in RATINGS}
        for name, button in self.buttons.items():
            button.on_click(lambda _, name=name: self.rate(name))
        self.previous = w.Button(description="Previous", tooltip="Show the cell before", layout=wide)
        self.following = w.Button(description="Next", tooltip="Show the next cell", layout=wide)
        self.resume = w.Button(description="Next unrated", tooltip="Go to what is still to do",
                               layout=wide)
        self.previous.on_click(lambda _: self.go(self.place - 1))
        self.following.on_click(lambda _: self.go(self.place + 1))
        self.resume.on_click(lambda _: self.go_to_unrated())
        self.comment = w.Textarea(placeholder="Comment, if any (saved when you leave the field)", description="Comment",
                                  continuous_update=False, layout=w.Layout(width="min(52em, 98%)", height="4em"))
        self.comment.observe(self._comment_changed, names="value")
        row = w.Layout(flex_flow="row wrap", grid_gap="0.4em")
        self.widget = w.VBox([self.title, w.Box([self.bar, self.status], layout=row), self.body,
                              w.Box(list(self.buttons.values()), layout=row), self.comment,
                              w.Box([self.previous, self.following, self.resume], layout=row)])

    @property
    def case(self) -> Case:
        """The cell on show."""
        return self.store.cases[self.place]

    def rate(self, rating: str) -> None:
        """Save a rating of the cell on show and go on to the next cell that has none."""
        self.store.save(self.case.blinded_id, rating, self.comment.value)
        following = self.store.next_unrated(self.place + 1)
        self.go(self.place if following is None else following)

    def go(self, place: int) -> None:
        """Show the cell at `place`, or the first or last one beyond the ends."""
        self.place = min(max(place, 0), len(self.store.cases) - 1)
        self._show()

    def go_to_unrated(self) -> None:
        """Show the next cell without a rating; stays where everything is rated."""
        self.store.reload()
        following = self.store.next_unrated(self.place)
        self.go(self.place if following is None else following)

    def _comment_changed(self, change: dict[str, Any]) -> None:
        if not self._moving:
            self.store.save(self.case.blinded_id, self.store.rating(self.case.blinded_id), change["new"])
            self._show()

    def _show(self) -> None:
        case, total, rated = self.case, len(self.store.cases), self.store.rated()
        mine = self.store.rating(case.blinded_id)
        self.title.value = f"<h3 style='margin: 0.2em 0'>Cell {self.place + 1} of {total}</h3>"
        self.bar.value = rated
        done = f"All {total} cells are rated, in {html.escape(TABLE)}" if rated == total else (
            f"{rated} of {total} rated, {total - rated} to do")
        own = f"this cell: {_LABELS[mine].lower()}" if mine else "this cell: not rated yet"
        self.status.value = f"<span role='status' aria-live='polite'>{done}; {own}.</span>"
        self.body.value = case_html(case)
        for name, button in self.buttons.items():
            button.button_style = "info" if name == mine else ""
            button.description = _LABELS[name] + (" (chosen)" if name == mine else "")
        self.previous.disabled, self.following.disabled = self.place == 0, self.place == total - 1
        self._moving = True
        self.comment.value = self.store.comment(case.blinded_id)
        self._moving = False

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def account(self) -> str:
        """Say how many cells are rated, how, and where the ratings lie."""
        counts = {name: sum(self.store.rating(case.blinded_id) == name for case in self.store.cases)
                  for name in RATINGS}
        said = ", ".join(f"{_LABELS[name].lower()} {count}" for name, count in counts.items())
        return (f"{self.store.rated()} of {len(self.store.cases)} cells rated ({said}). "
                f"Ratings: {self.store.folder / TABLE}")


def open_page(sample: str = "") -> RatingPage:
    """Open the rating page of a sample (its name or folder; the newest when empty), where the rater stopped."""
    return RatingPage(RatingStore(find_sample(sample)))
