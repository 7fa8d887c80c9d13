"""Sentences of the synthetic question bank: for each kind of study one per domain, and the filling around them.

A sentence is the verbatim quote of its fact. Questions speak of `people` and `bouts`, which are other words
for the paper's `population` and `episode`, so that words alone find some answers and not all. A statement
with two forms takes the second where the paper's `yes` for that sentence is false.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FactText:
    """Templates of one fact: its sentence, its statement, the question about it, and the question's short form."""

    section: str
    fact_type: str
    sentence: str
    statement: str
    question: str
    clause: str
    otherwise: str = ""  # the statement where the answer is no; empty for facts without a label


def _stated(section: str, sentence: str, statement: str, question: str, clause: str) -> FactText:
    return FactText(section, "stated", sentence, statement, question, clause)


def _inferred(
    section: str, sentence: str, statement: str, question: str, clause: str, otherwise: str = ""
) -> FactText:
    return FactText(section, "interpretation", sentence, statement, question, clause, otherwise)


TRIAL = (
    _stated("abstract", "With {agent}, the median number of {episode} among {population} fell from {base} to {end} a "
                        "month.",
            "{Agent} lowered the median number of {episode} to {end} a month.",
            "To what monthly median did {episode} drop in {people} given {agent}?",
            "to what monthly figure did {bouts} drop in {people} on {agent}"),
    _inferred("abstract", "The 95% interval for the difference between {agent} and {comparator} in {population} "
                          "reached from "
              "{ci_low} to {ci_high} {episode} a month.",
              "The interval excludes zero, so {agent} did better than {comparator}.",
              "Was {agent} convincingly superior to its alternative in {people}, judging by the estimate's "
              "uncertainty?",
              "was {agent} convincingly superior in {people}",
              "The interval includes zero, so an advantage of {agent} over {comparator} was not shown."),
    _stated("introduction", "A pilot in {pilot} {population} had pointed to a loading dose of {loading} mg of {agent}.",
            "A pilot pointed to a loading dose of {loading} mg of {agent}.",
            "Which loading dose of {agent} did a small pilot in {people} suggest?",
            "which starting amount of {agent} did preliminary work in {people} suggest"),
    _inferred("introduction", "{Agent} enters the {compartment} slowly, and we planned {lag} weeks of treatment for "
              "{population} before the first reading.",
              "A late effect was expected because {agent} reaches the {compartment} slowly.",
              "Why did investigators anticipate a delayed response to {agent} in {people}?",
              "why was a delayed response to {agent} anticipated in {people}"),
    _stated("methods", "{Agent} and {comparator} were allotted to {population} in permuted blocks of {block}, "
                       "stratified "
            "by {stratifier}.",
            "Randomisation was stratified by {stratifier}.",
            "Which characteristic was allocation stratified by when {people} were given {agent}?",
            "what was allocation to {agent} balanced on in {people}"),
    _inferred("methods", "In {population} the dose of {agent} was halved whenever the {organ} reading fell below "
                         "{cut} per "
              "cent of its first value.",
              "Dosing of {agent} depended on how well the {organ} worked.",
              "Deterioration of which body part led to a halved dose of {agent} for {people}?",
              "whose deterioration led to smaller amounts of {agent} for {people}"),
    _stated("results", "Nausea was the reason why {nausea} of {na} {population} stopped {agent}.",
            "{nausea} of {na} participants stopped {agent} because of nausea.",
            "How many {people} stopped {agent} because they felt sick?",
            "how many {people} abandoned {agent} because they felt sick"),
    _inferred("results", "By week {week} the {scale} score of {population} had risen by {gain} points on {agent} and "
                         "by "
              "{gain2} points on {comparator}.",
              "Function improved more with {agent} than with {comparator}.",
              "Did the {scale} score recover further with {agent} than with its alternative in {people}?",
              "did {agent} restore function further than its alternative in {people}",
              "Function improved less with {agent} than with {comparator}."),
    _stated("discussion", "We would give {agent} to {population} for {months} months at most, because its benefit "
                          "faded "
            "thereafter.",
            "{Agent} should be given for {months} months at most.",
            "For how many months at most should {people} be on {agent}?",
            "what maximum duration of {agent} is advised for {people}"),
    _inferred("discussion", "{bias} while {agent} was tried in {population}, which we noticed only after unblinding.",
              "The comparison may overstate the effect of {agent}.",
              "Could the reported effect of {agent} in {people} be exaggerated by how care was given?",
              "could the effect of {agent} in {people} be exaggerated",
              "The comparison may understate rather than overstate the effect of {agent}."),
    _stated("table", "Mean serum potassium, {population}: {agent} {k1} mmol/l, {comparator} {k2} mmol/l.",
            "Mean serum potassium was {k1} mmol/l with {agent}.",
            "What mean serum potassium did {people} taking {agent} have?",
            "what average blood potassium did {people} on {agent} have"),
    _inferred("table", "Free of {episode}, {population}: {agent} {fa} of {na}, {comparator} {fb} of {nb}.",
              "A larger share stayed free of {episode} with {agent} than with {comparator}.",
              "Did more {people} escape {bouts} altogether on {agent} than on the alternative?",
              "did {agent} spare more {people} {bouts} altogether",
              "A smaller share stayed free of {episode} with {agent} than with {comparator}."),
    _stated("figure", "Time to the first of the {episode} in {population}; the curves for {agent} and {comparator} "
                      "part on "
            "day {day}.",
            "The curves part on day {day}.",
            "On which day do the curves of {people} receiving {agent} begin to diverge?",
            "when do plotted event lines diverge for {people} on {agent}"),
    _inferred("figure", "Shaded 95% bands for {agent} and {comparator} in {population} {bands}.",
              "The two groups differ clearly after week {week}.",
              "Do the drawn uncertainty regions set {agent} apart from its alternative in {people}?",
              "do drawn uncertainty regions set {agent} apart in {people}",
              "The two groups cannot be told apart at any visit."),
)

MARKER = (
    _stated("abstract", "In {population}, {agent} recognised {sens} per cent of those with {disease} at {cutoff} "
                        "units.",
            "The sensitivity of {agent} was {sens} per cent.",
            "What share of affected {people} did {agent} detect?",
            "what share of affected {people} did {agent} detect"),
    _inferred("abstract", "{Agent} was positive in {fp} of {nb} {population} without {disease}.",
              "False positive results of {agent} were rare.",
              "Are false alarms uncommon when {people} undergo {agent}?",
              "are false alarms of {agent} uncommon in {people}",
              "False positive results of {agent} were frequent."),
    _stated("introduction", "The idea of using {agent} in {population} came from {origin}.",
            "The idea came from {origin}.",
            "Where did the idea of trying {agent} in {people} come from?",
            "what prompted the trying of {agent} in {people}"),
    _inferred("introduction", "Recognising {disease} in {population} has needed a provocation test that {harm}, hence "
                              "our "
              "interest in {agent}.",
              "The established provocation test is {drawback}.",
              "What drawback of present diagnosis motivated evaluating {agent} in {people}?",
              "what drawback of present diagnosis motivated {agent} in {people}"),
    _stated("methods", "Readings of {agent} were taken from {population} {hours} hours after {meal}.",
            "{Agent} was read {hours} hours after {meal}.",
            "How many hours after which event were readings of {agent} taken in {people}?",
            "how much time passed before {agent} was measured in {people}"),
    _inferred("methods", "The two readers of {agent} for {population} {blinding}.",
              "The readers were not blinded, so accuracy may be inflated.",
              "Could knowing who was ill have coloured the assessment of {agent} in {people}?",
              "could knowing the diagnosis have coloured {agent} in {people}",
              "The readers were blinded to the diagnosis."),
    _stated("results", "The area under the curve of {agent} in {population} was {auc}.",
            "The area under the curve was {auc}.",
            "What area under the curve did {agent} reach in {people}?",
            "how well did {agent} separate ill from healthy {people}"),
    _inferred("results", "The readers of {agent} in {population} agreed with a kappa of {kappa}.",
              "Agreement between the readers was almost perfect.",
              "Does the kappa suggest that assessors of {agent} in {people} can be exchanged?",
              "can assessors of {agent} in {people} be exchanged",
              "Agreement between the readers was poor."),
    _stated("discussion", "We advise repeating {agent} in {population} after {repeat} weeks when the first result is "
            "borderline.",
            "A borderline result should be repeated after {repeat} weeks.",
            "When should a borderline finding of {agent} be checked again in {people}?",
            "when should doubtful {agent} be checked again in {people}"),
    _inferred("discussion", "{spectrum} in this study of {agent} in {population}.",
              "The accuracy of {agent} probably looks better than it would be in daily practice.",
              "Is the accuracy of {agent} likely to be lower when {people} are tested routinely?",
              "is {agent} likely less accurate when {people} are tested routinely",
              "The accuracy of {agent} should carry over to daily practice."),
    _stated("table", "Upper reference limit of {agent}, {population}: {limit} units.",
            "The upper reference limit of {agent} is {limit} units.",
            "Above what upper limit is {agent} considered abnormal in {people}?",
            "above what value is {agent} abnormal in {people}"),
    _inferred("table", "{Agent}, {population}: {tp} true positive, {fn} false negative, {tn} true negative, {fp2} "
                       "false "
              "positive.",
              "More people with the disease were missed than healthy ones wrongly called ill.",
              "Does {agent} overlook cases among {people} oftener than it raises needless alarm?",
              "does {agent} overlook cases oftener than alarm needlessly in {people}",
              "Fewer people with the disease were missed than healthy ones wrongly called ill."),
    _stated("figure", "Distribution of {agent} in {population}; the dotted line marks the optimum of {optimum} units.",
            "The optimum lies at {optimum} units.",
            "How many units does the distribution of {agent} in {people} show as best threshold?",
            "which threshold of {agent} is plotted as best for {people}"),
    _inferred("figure", "Observed against expected risk from {agent} in {population}; every point lies {side} the "
                        "diagonal.",
              "The expected risks were too low.",
              "Do forecasts from {agent} underrate what {people} then experience?",
              "do forecasts from {agent} underrate risk in {people}",
              "The expected risks were too high."),
)

EXPOSURE = (
    _stated("abstract", "{Agent} went with a hazard ratio of {hr} for new {episode} among {population}.",
            "The hazard ratio of {agent} was {hr}.",
            "With what hazard ratio was {agent} related to fresh {bouts} in {people}?",
            "how strongly was {agent} related to fresh {bouts} in {people}"),
    _inferred("abstract", "After adjustment for {confounder}, the hazard ratio of {agent} in {population} shrank from "
                          "{hr1} "
              "to {hr2}.",
              "Differences in {confounder} explain most of the association.",
              "Which adjustment seems to account for the link between {agent} and {bouts} in {people}?",
              "what accounts for the link of {agent} with {bouts} in {people}"),
    _stated("introduction", "Registers name {agent} in {share} per cent of {population} with {disease}.",
            "Registers name {agent} in {share} per cent of those with {disease}.",
            "What proportion of affected {people} has {agent} in registers?",
            "what proportion of affected {people} has {agent} on record"),
    _inferred("introduction", "Between {y1} and {y2} {agent} doubled in {population}, while {disease} in this group "
                              "{trend}.",
              "The course over the years fits a link with {agent}.",
              "Do long-term changes support a connection between {agent} and illness in {people}?",
              "do long-term changes support blaming {agent} in {people}",
              "The course over the years speaks against a link with {agent}."),
    _stated("methods", "Every {interval} weeks we asked {population} about {agent} by {mode}.",
            "Participants were asked about {agent} every {interval} weeks.",
            "How frequently were {people} asked about their {agent}?",
            "how frequently were {people} questioned on {agent}"),
    _inferred("methods", "Of {population} with {agent}, {lost} per cent were lost to follow-up, against {lost2} per "
                         "cent of "
              "the others.",
              "Follow-up was about as complete with {agent} as without.",
              "Was observation equally complete for {people} with and without {agent}?",
              "was observation equally complete for {people} without {agent}",
              "Loss to follow-up differed between the groups and may bias the comparison."),
    _stated("results", "In all, {cases} of {na} {population} with {agent} developed {episode}.",
            "{cases} of {na} with {agent} developed {episode}.",
            "How many {people} exposed to {agent} developed {bouts}?",
            "how many {people} exposed to {agent} had {bouts}"),
    _inferred("results", "Rates of {episode} in {population} were {r1}, {r2} and {r3} per 1000 person-months with no, "
                         "some "
              "and much {agent}.",
              "The rate rises step by step with the amount of {agent}.",
              "Does more {agent} bring more {bouts} in {people}, in a graded manner?",
              "does more {agent} bring more {bouts} in {people}",
              "There is no graded relation with the amount of {agent}."),
    _stated("discussion", "Until more is known, {population} might keep {agent} to {ceiling} days a month.",
            "{Agent} might be kept to {ceiling} days a month.",
            "How many days a month is the ceiling proposed for {agent} among {people}?",
            "what ceiling is proposed for {agent} among {people}"),
    _inferred("discussion", "The {episode} came before {agent} in {reverse} of {dated} {population} whose diaries "
                            "give both "
              "dates.",
              "Reverse causation is likely.",
              "Might illness have led {people} to {agent} rather than the other way round?",
              "might illness have led {people} to {agent}",
              "Reverse causation is unlikely."),
    _stated("table", "Median age at onset, {population} with {agent}: {age} years.",
            "The median age at onset was {age} years.",
            "At what median age did symptoms of {people} with {agent} begin?",
            "how old were {people} with {agent} when symptoms began"),
    _inferred("table", "Number of {episode} per person-year, {population}: {ra} with {agent}, {rb} without.",
              "The rate was higher with {agent} than without.",
              "Did {bouts} strike {people} with {agent} oftener than their peers?",
              "did {bouts} strike {people} with {agent} oftener",
              "The rate was lower with {agent} than without."),
    _stated("figure", "Cumulative incidence of {episode} in {population}, reaching {cumulative} per cent with {agent}.",
            "Cumulative incidence reached {cumulative} per cent with {agent}.",
            "What cumulative figure does the plotted line of {people} with {agent} finally attain?",
            "what height does the plotted line attain for {people} with {agent}"),
    _inferred("figure", "Forest plot of {agent} in {population}; the intervals of women and men {meeting}.",
              "The effect of {agent} differs between women and men.",
              "Does the consequence of {agent} depend on sex among {people}?",
              "does the consequence of {agent} depend on sex among {people}",
              "The effect of {agent} does not differ between women and men."),
)

STUDIES = {"trial": TRIAL, "marker": MARKER, "exposure": EXPOSURE}

TITLES = {
    "trial": "{Agent} for {disease} in {population}: a randomised trial",
    "marker": "{Agent} for recognising {disease} in {population}",
    "exposure": "{Agent} and {disease} in {population}: a cohort study",
}
HEADINGS = {
    "abstract": "Abstract", "introduction": "Introduction", "methods": "Methods", "results": "Results",
    "discussion": "Discussion", "table": "Table 1", "figure": "Figure 1",
}
OPENINGS = {
    "abstract": "We studied {agent} in {n} {population} with {disease} in {country}.",
    "introduction": "{Disease} brings {episode}, most of them after {trigger}. Guidelines say nothing on {agent} in "
                    "{population}.",
    "methods": "From {y1} to {y2}, {centres} centres in {country} enrolled {n} {population} for this study of {agent}.",
    "results": "Of {screened} {population} screened, {n} entered the analysis of {agent}.",
    "discussion": "In {population} with {disease}, our findings on {agent} add to a thin literature.",
    "table": "Main values of {agent} in {population}.",
    "figure": "{Agent} in {population}, as analysed.",
}
FILLING = {
    "abstract": (
        "Outcomes were recorded by trained nurses who used the {scale} scale.",
        "Findings were the same in every centre of {country}.",
        "The protocol had been registered before the first visit.",
    ),
    "introduction": (
        "Between two {episode} most people with {short} feel well, and {tissue} samples look normal.",
        "Textbooks describe {short} as rare, yet specialised clinics in {country} see it every week.",
        "Earlier work on {short} was small, mixed several age groups and seldom reported harm.",
        "Families name the fear of the next {episode} as the heaviest burden of {short}.",
    ),
    "methods": (
        "Ethics committees in {country} approved the protocol and everybody taking part agreed in writing.",
        "The {scale} scale runs from 0 to 100, and higher scores mean better {tissue} function.",
        "Diaries of {episode} were kept on paper and copied by two clerks.",
        "Sample size was reckoned for a power of 90 per cent with two-sided testing.",
    ),
    "results": (
        "Missing values were few and spread evenly over the visits.",
        "No death occurred, and hospital stays for {short} were short.",
        "Sensitivity analyses without the smallest centre gave the same picture.",
        "Scores on the {scale} scale at entry were much alike in all centres.",
    ),
    "discussion": (
        "Strengths are the regular visits and the small number of people lost.",
        "Whether the findings hold outside {country} remains to be seen.",
        "Mechanisms in the {tissue} deserve study of their own.",
        "Cost was not part of our work and should be looked at next.",
    ),
    "table": ("Values are counts or means; the {scale} scale was used for function.",),
    "figure": ("Vertical bars give standard errors; visits are spaced evenly.",),
}
