"""Names, designs and sentence templates of the made-up studies.

Letters in braces: A agent, P population, C comparison, O outcome, D design (aD with its article), N participants,
Q acronym, R L H ratio with its limits, F follow-up, S setting, x y z numbers, d a digit.
"""

# ruff: noqa: E501 -- a sentence or a list of wordings is easier to read on one line

# fmt: off
from __future__ import annotations

SPELLINGS = (
    ("randomis", "randomiz"), ("isation", "ization"), ("tumour", "tumor"), ("haemo", "hemo"), ("oedema", "edema"),
    ("hyperglycaemia", "hyperglycemia"), ("hypoglycaemia", "hypoglycemia"), ("anaemia", "anemia"), ("centre", "center"),
    ("paediatric", "pediatric"), ("oesoph", "esoph"), ("behaviour", "behavior"), ("necrotising", "necrotizing"),
)

SURNAMES = (
    "Abel", "Brandt", "Castell", "Dimas", "Eklund", "Farrow", "Gruber", "Hollis", "Imbert", "Jansson", "Kessler", "Lindqvist",
    "Marlow", "Novak", "Okoro", "Pereira", "Quist", "Rossi", "Sato", "Tanaka", "Ueda", "Varga", "Weber", "Yilmaz", "Zeller",
)
JOURNALS = (
    "Annals of Plain Medicine", "Northern Clinical Journal", "Journal of Applied Therapeutics", "Trials and Practice",
    "Archives of Population Health", "Open Clinical Reports", "European Bulletin of Care", "Pacific Medical Letters",
)
ACRONYMS = (
    "HALCYON", "MERIDIAN", "TALUS", "BOREAS", "CINDER", "ORCHARD", "LANTERN", "PELICAN", "SEXTANT", "VERDANT", "QUARTZ",
    "AURIGA", "TUNDRA", "COPPICE", "ESTUARY", "FALCON", "GRANITE", "HARBOUR", "ISTHMUS", "JUNIPER", "KESTREL", "MALLARD",
)
DESIGNS = {
    "PI": ("randomised controlled trial", "double-blind randomised trial", "multicentre RCT", "randomised parallel-group trial",
           "cluster-randomised trial", "trial with random allocation"),
    "E": ("prospective cohort study", "register-based cohort study", "nested case-control study", "longitudinal follow-up study",
          "population-based case-control study", "historical cohort study"),
}
NEAR_DESIGNS = {
    "PI": ("retrospective chart review", "non-randomised cohort study", "registry comparison", "historically controlled study",
           "before-and-after audit", "observational database study"),
    "E": ("cross-sectional survey", "ecological comparison of districts", "prevalence study", "one-day questionnaire study",
          "case series", "aggregate-data study"),
}

PHRASES: dict[str, tuple[str, ...]] = {
    "labels": (
        "BACKGROUND|METHODS|RESULTS|CONCLUSIONS", "Objective|Patients and methods|Findings|Interpretation",
        "INTRODUCTION|DESIGN AND SETTING|RESULTS|DISCUSSION", "Aims|Methods|Results|Conclusion",
    ),
    "follow_up": (
        "12 weeks", "six months", "one year", "a median of 18 months", "two years", "26 weeks", "40 months", "a mean of 3.2 years",
    ),
    "setting": (
        "four university hospitals", "a regional network", "eleven sites in three countries", "a tertiary referral unit",
        "district hospitals", "21 practices", "two provinces", "one city", "a national programme", "nine specialist clinics",
    ),
    "title_PI": (
        "{A} for {O} in {P}: {aD}", "Effect of {A} versus {C} on {O} in {P}", "{O} with {A} or {C}: {aD}",
        "Does {A} lower the risk of {O}? Results of {aD}", "{A} compared with {C} in {P}",
        "Efficacy of {A} in {P}: the {Q} study", "{aD} of {A} in {P}", "Preventing {O}: {A} against {C}",
        "Can {O} be avoided in {P}? Experience with {A}", "{Q}: {A} and {O}",
    ),
    "title_E": (
        "{A} and the risk of {O}: {aD}", "Association between {A} and {O} among {P}", "{O} in {P} according to {A}",
        "Is {A} linked with {O}? {aD}", "{A} as a determinant of {O}: the {Q} study", "Risk of {O} after {A} compared with {C}",
        "{P} and {O}: what role for {A}?", "{A}, {C} and subsequent {O}", "Long-term consequences of {A}: {aD}",
    ),
    "title_acronym": (
        "Primary results of the {Q} study", "The {Q} investigation: final report", "{Q}: outcomes after {F}",
        "Main findings of {Q}, {aD}", "Rationale met by evidence? Results from {Q}",
    ),
    "background": (
        "{O} is a burden for {P} and for those who care for them.", "Few options exist for {P}, and evidence is sparse.",
        "Whether {A} matters for {O} is debated.", "Earlier reports on {A} were small and gave conflicting answers.",
        "We asked whether {A} changes {O}.", "Guidelines disagree about {A}, because studies with {C} are few.",
        "In {P}, {O} remains frequent despite current care.", "The role of {A} has not been settled.",
        "Clinicians often meet {P} and have little to offer.", "Interest in {A} has grown over the last decade.",
    ),
    "method_PI": (
        "In {aD} at {S}, {N} participants ({P}) received {A} or {C} and were followed for {F}; the main endpoint was {O}.",
        "We enrolled {N} {P} in {aD}. They received {A} or {C} for {F}. The outcome of interest was {O}.",
        "This was {aD} comparing {A} with {C}. Eligible were {P} (n = {N}) from {S}. {O} was recorded over {F}.",
        "{N} subjects, all {P}, took part in {aD}: one group had {A}, the other {C}. Assessors counted {O} during {F}.",
        "{S} contributed {N} {P}. As {aD}, the study set {A} against {C}, with {O} after {F} as its measure of success.",
        "Design: {D}. Participants: {N} {P}. Treatments: {A} versus {C} for {F}. Main measure: {O}.",
    ),
    "method_E": (
        "In {aD} from {S} we followed {N} {P} for {F} and related {A} to {O}; the reference was {C}.",
        "We analysed {N} {P} in {aD}. Those with {A} were compared with {C}. The endpoint was {O}.",
        "This {D} covered {N} {P} at {S}. {A} was ascertained at the start and {O} over {F}, against {C}.",
        "Data on {N} {P} came from {S}. Using {aD}, we contrasted {A} with {C} for the occurrence of {O}.",
        "Design: {D}. Participants: {N} {P}. Exposure: {A}. Reference: {C}. Main measure: {O}.",
    ),
    "result_PI": (
        "With {A} instead of {C}, the ratio for {O} came out at {R} (95% CI {L} to {H}).",
        "For {O}, the risk ratio of {A} against {C} was {R} ({L}-{H}).",
        "Over {F}, {O} occurred in {x}% of those given {A}; relative risk against {C} {R}, 95% confidence interval {L} to {H}.",
        "The hazard of {O} under {A} relative to {C} was {R} (95% CI, {L} to {H}; {x} events in the active group).",
        "Compared with {C}, {A} gave a relative risk of {R} ({L} to {H}) for {O}.",
    ),
    "result_E": (
        "The adjusted relative risk of {O} with {A} was {R} (95% CI {L} to {H}) against {C}.",
        "{A} carried a hazard ratio for {O} of {R} ({L}-{H}), with {C} as reference.",
        "During {F} we observed {x} cases of {O}; those with {A} had {R} times the rate of {C} (95% CI {L} to {H}).",
        "After adjustment, {O} and {A} were related at a ratio of {R} (confidence limits {L} and {H}; reference {C}).",
    ),
    "measured": (
        "The standardised mean difference in {O} between {A} and {C} was -0.{x} (P = {z}).",
        "{O} changed by {x} units with {A} and by {y} with {C} (P = {z}).",
        "We found {O} to differ by {y}% between {A} and {C} (P = {z}).",
    ),
    "conclude_less_PI": (
        "{A} reduced {O} in {P}.", "Our data support {A} for preventing {O}.", "{O} became rarer with {A}, which merits wider use.",
        "In {P}, {A} was superior to {C}.",
    ),
    "conclude_more_PI": (
        "{A} increased {O} and should not be used for this purpose.", "In {P}, {A} did worse than {C}.", "{A} was harmful with regard to {O}.",
    ),
    "conclude_less_E": (
        "{A} went along with fewer cases of {O}.", "{O} was rarer after {A}; causality is unproven.", "{A} was inversely related to {O}.",
    ),
    "conclude_more_E": (
        "{A} was associated with more {O} in {P}.", "Limiting {A} might prevent {O}.", "{O} became more frequent with {A}.",
        "Our findings point to {A} as a risk factor.",
    ),
    "conclude_none": (
        "No clear difference in {O} was found between {A} and {C}.", "The effect of {A} on {O} remains uncertain.",
        "These results neither support nor refute {A}.", "{A} and {C} had similar effects in {P}.", "Larger studies of {A} are needed.",
    ),
    "extra": (
        "Mean age was {x} years and {y}% were women.", "Adherence was above {x}% in both groups.", "Loss to follow-up was {y}%.",
        "Serious adverse events occurred in {y} and {x} participants.", "The analysis was by intention to treat.",
        "Missing values were imputed by chained equations.", "A subgroup analysis by age showed no interaction (P = {z}).",
        "Sensitivity analyses gave similar estimates.", "The protocol was registered before recruitment.",
        "Funding came from a public research council.", "Two assessors unaware of group adjudicated all events.",
        "Quality of life did not differ (P = {z}).", "All-cause mortality was {y}% over the whole period.",
        "Costs per participant were lower by {x} units.", "Laboratory values were measured in one central facility.",
        "Participants were recruited at {S}.", "Baseline characteristics were balanced.", "Smoking status was known for {x}%.",
        "The number needed to treat was {x}.", "Body mass index averaged 2{d} kg/m2.", "Heterogeneity between sites was low.",
        "Compliance was checked by diary and refill counts.", "Recruitment stopped early for lack of funds at {x}% of the target.",
        "A steering committee oversaw safety.", "The study was approved by the regional ethics board.",
        "Concomitant treatment was left to the physician.", "Blood samples were taken at weeks 0, {y} and {x}.",
        "Mild headache, nausea and dizziness were the commonest complaints.", "Cox models were adjusted for sex, age and income.",
        "Propensity scores were used in a secondary analysis.", "Comorbidity was present in {x}% of cases.",
        "Interviews with {y} participants explored acceptability.", "Family history was recorded by questionnaire.",
        "Results were unchanged after exclusion of one site.", "The median interval to first event was {x} days.",
        "Education and income were unrelated to the result.", "Physical activity was measured with an accelerometer.",
    ),
}
