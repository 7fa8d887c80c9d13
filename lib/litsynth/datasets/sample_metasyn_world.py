"""The made-up world of the synthetic reviews: what each review asks, in many wordings, and what only looks like it.

Names of drugs, devices and chemicals are invented; diseases and outcomes are real words. Wordings of one concept are
separated by `|`, the protocol's own first; near misses of a criterion are separated by `;;`. A leading `~` marks an
outcome that is a measurement and not an event.
"""

# ruff: noqa: E501 -- a sentence or a list of wordings is easier to read on one line

from __future__ import annotations

from dataclasses import dataclass

from litsynth.datasets.sample_metasyn_exposures import EXPOSURE_TOPICS

CRITERIA = ("population", "intervention", "comparison", "outcome", "design", "date")


@dataclass(frozen=True)
class Topic:
    """One review's question: the concept that each criterion admits and the near misses that it does not.

    `log_ratio` is the true effect on the event, as the logarithm of a risk ratio; `years` are the first and last
    publication years that the search covers.
    """

    kind: str
    short: str
    population: str
    agent: str
    comparison: str
    outcome: str
    near_population: str
    near_agent: str
    near_comparison: str
    near_outcome: str
    log_ratio: float
    years: tuple[int, int]


INTERVENTION_TOPICS = (
    Topic(
        "PI", "Lorvaprin in chronic heart failure",
        "adults with chronic heart failure|patients with HFrEF|outpatients with a poor left ventricular ejection fraction"
        "|people with long-standing cardiac insufficiency|symptomatic systolic dysfunction (NYHA II to IV)",
        "lorvaprin|Cardelis|LVP-114|once-daily Cardelis tablets|the oral neprin antagonist LVP-114",
        "placebo|matching dummy tablets|inert capsules of identical appearance",
        "hospital admission for heart failure|HF hospitalisation|unplanned readmission with decompensation"
        "|inpatient episodes of cardiac congestion",
        "children with dilated cardiomyopathy|paediatric patients with congenital ventricular failure"
        ";;patients with acute heart failure in the emergency department|adults admitted with acute pulmonary oedema",
        "sulvaprin|Novadelis|SVP-20;;mirvapril|Tensomir|the converting-enzyme blocker mirvapril",
        "open-label enalapril|active treatment with enalapril;;a higher dose of the same drug|two dose levels of the drug",
        "~NT-proBNP concentration|~serum natriuretic peptide;;~six-minute walking distance|~exercise capacity",
        -0.33, (1999, 2020),
    ),
    Topic(
        "PI", "Cooled-membrane dialysis and intradialytic hypotension",
        "adults on maintenance haemodialysis|people with end-stage renal disease dialysed three times a week"
        "|prevalent ESKD patients at outpatient centres|chronic hemodialysis recipients",
        "cooled-membrane dialysis|Frigidal sessions|low-temperature dialyser circuits|the Frigidal filter (CMD)",
        "standard dialysis at 37 °C|conventional warm dialysate|usual thermoneutral treatment",
        "intradialytic hypotension|IDH|symptomatic falls in blood pressure on the machine|treatments stopped for collapse",
        "patients on peritoneal dialysis|people treated with continuous ambulatory PD"
        ";;critically ill patients on continuous renal replacement|intensive-care patients with acute kidney injury",
        "sodium profiling|stepwise dialysate sodium;;biofeedback ultrafiltration|Volutrak-guided fluid removal",
        "midodrine before each session|an alpha-agonist tablet;;no contemporaneous group|the previous month of the same patients",
        "~thermal comfort score|~shivering on a visual scale;;~urea clearance (Kt/V)|~dialysis adequacy",
        -0.51, (2001, 2022),
    ),
    Topic(
        "PI", "Tavimastat for exacerbations of COPD",
        "adults with chronic obstructive pulmonary disease|COPD patients in GOLD stages II to IV"
        "|current or former smokers with emphysema|people with fixed airflow limitation",
        "tavimastat|Broncholar|TVM 60 mg|inhaled Broncholar dry powder|the elastase inhibitor TVM",
        "placebo|a lactose-only inhaler|dummy devices",
        "acute exacerbations|flare-ups needing steroids or antibiotics|AECOPD events|worsening of symptoms treated in hospital",
        "adults with severe asthma|asthmatic patients on inhaled steroids"
        ";;patients with bronchiectasis|people with cystic fibrosis lung disease",
        "roluvimast|Alveor|the PDE-4 blocker roluvimast;;tiovantrium|Respimont|a long-acting antimuscarinic",
        "inhaled fluticasone|an inhaled corticosteroid;;pulmonary rehabilitation|supervised exercise classes",
        "~forced expiratory volume in one second|~FEV1;;~sputum neutrophil elastase|~airway inflammatory markers",
        0.17, (2003, 2021),
    ),
    Topic(
        "PI", "Bright-collar light therapy for recurrent winter depression",
        "adults with seasonal affective disorder|people with recurrent winter depression|patients with SAD"
        "|individuals whose mood episodes return every autumn",
        "bright-collar light therapy|the Lumena wearable|10,000-lux neck-worn phototherapy|daily morning Lumena sessions",
        "dim red light|a sham device|an inactive ion generator",
        "relapse of major depression|a new depressive episode|recurrence by structured interview|return of full-syndrome illness",
        "adults with bipolar disorder|patients with rapid-cycling bipolar illness"
        ";;pregnant women with depression|women with antenatal low mood",
        "dawn-simulation lamps|gradual bedside illumination;;negative air ionisers|high-density ion exposure",
        "sertraline tablets|an SSRI;;cognitive behavioural therapy|group CBT",
        "~daytime sleepiness score|~Epworth scale;;~melatonin onset|~circadian phase in saliva",
        -0.29, (1995, 2019),
    ),
    Topic(
        "PI", "Orbexetine for prevention of migraine",
        "adults with episodic migraine|patients having four to fourteen headache days a month|migraineurs without medication overuse"
        "|people with recurrent hemicranial headache and aura",
        "orbexetine|Migravel|ORX|twice-daily Migravel|the oral CGRP modulator ORX 75 mg",
        "placebo|blank capsules|pharmacologically inactive tablets",
        "fifty per cent responder failure|failure to halve monthly attacks|non-response by headache diary|persistence of frequent attacks",
        "adolescents with migraine|school-age children with headache;;adults with cluster headache|patients with trigeminal autonomic cephalalgia",
        "topiramine|Cephalon-T|the anticonvulsant topiramine;;lasmirel|Rescuva|an acute abortive tablet",
        "propranolol|a beta-blocker;;acupuncture|needling at traditional points",
        "~serum CGRP|~vasoactive peptide levels;;~cortical excitability|~transcranial stimulation thresholds",
        -0.25, (2004, 2022),
    ),
    Topic(
        "PI", "Fenovilimab in rheumatoid arthritis",
        "adults with active rheumatoid arthritis|RA patients with an inadequate response to methotrexate"
        "|people with seropositive inflammatory polyarthritis|patients with high DAS28",
        "fenovilimab|Artivance|FNV infusions|subcutaneous Artivance|the anti-IL-17 antibody FNV",
        "placebo with methotrexate|background methotrexate alone|saline injections on top of MTX",
        "radiographic progression|new erosions on hand films|worsening of the Sharp score|structural joint damage",
        "adults with psoriatic arthritis|patients with psoriasis and swollen joints"
        ";;children with juvenile idiopathic arthritis|JIA patients",
        "rilotacept|Costimab|the fusion protein rilotacept;;baritinol|Jakvia|an oral kinase inhibitor",
        "adalumab|another biologic agent;;leflunomide|a conventional disease-modifying drug",
        "~C-reactive protein|~acute-phase reactants;;~vaccine antibody titres|~response to influenza immunisation",
        -0.42, (2002, 2021),
    ),
    Topic(
        "PI", "Glutaride in type 2 diabetes",
        "adults with type 2 diabetes on insulin|T2DM patients using basal insulin|insulin-treated non-ketotic diabetics"
        "|people whose adult-onset diabetes needs injections",
        "glutaride|Insumate|GTD|weekly Insumate pens|the amylin mimetic GTD",
        "placebo|vehicle injections|an inactive pen",
        "severe hypoglycaemia|low-glucose events needing assistance|SH episodes|blackouts from neuroglycopenia",
        "adults with type 1 diabetes|people with autoimmune diabetes;;adults with prediabetes|subjects with impaired glucose tolerance",
        "exenaride|Bydurel|the incretin exenaride;;sitaglitin|Gliptavia|a DPP-4 tablet",
        "prandial insulin|mealtime aspart injections;;dietary advice|a structured eating plan",
        "~glycated haemoglobin|~HbA1c;;~body weight|~waist circumference",
        0.02, (2005, 2022),
    ),
    Topic(
        "PI", "Arcaband pessary in twin pregnancy",
        "women with a twin pregnancy|twin gestations|mothers carrying two fetuses|women with diamniotic twins",
        "cervical arc pessary|Arcaband|silicone cervical support ring|a transvaginal Arcaband placed at 18 weeks",
        "expectant management|usual antenatal care|no device",
        "preterm birth before 34 weeks|early delivery|PTB <34 wk|birth in the very preterm period",
        "women with a singleton pregnancy and short cervix|singleton gestations at risk"
        ";;women with triplets|higher-order multiple pregnancies",
        "cervical cerclage|a Shirodkar-type suture;;vaginal progestane|Gestavel pessaries|nightly micronised Gestavel",
        "vaginal progesterone|a daily luteal hormone;;bed rest in hospital|elective antenatal admission",
        "~cervical length|~sonographic cervix measurements;;~maternal anxiety|~state-trait inventory scores",
        -0.05, (2008, 2022),
    ),
    Topic(
        "PI", "Chlorazine sponge after colorectal surgery",
        "adults having elective colorectal resection|bowel cancer patients undergoing colectomy|people operated on for sigmoid disease"
        "|candidates for planned large-bowel surgery",
        "chlorazine sponge|Sterimat|CLZ-collagen implant|a Sterimat fleece under the fascia",
        "no implant|routine wound closure|standard skin closure without a sponge",
        "surgical site infection|SSI within 30 days|wound sepsis|purulent discharge from the incision",
        "women having caesarean section|obstetric laparotomy patients;;adults having cardiac surgery|patients undergoing sternotomy",
        "triclostat-coated sutures|antiseptic thread;;povidal irrigation|intraoperative wound lavage",
        "a gentamicin sponge|an aminoglycoside implant;;extended oral antibiotics|a week of oral prophylaxis",
        "~length of stay|~days in hospital;;~postoperative pain|~morphine requirement",
        -0.36, (2000, 2020),
    ),
    Topic(
        "PI", "Vibrating insoles in residents of care homes",
        "residents of care homes|older people in long-term care|nursing-home dwellers over 75 years|frail institutionalised elders",
        "vibrating insoles|Stabilo-Sole|subsensory plantar stimulation|SSI footwear worn all day",
        "inactive insoles|ordinary shoe inlays|the same insoles switched off",
        "falls|fall events in the staff log|unintended descents to the floor|slips and tumbles",
        "community-dwelling older adults|seniors living in their own homes;;adults with diabetic neuropathy|middle-aged patients with numb feet",
        "hip protectors|padded undergarments;;balance training|supervised tai-chi classes",
        "individual physiotherapy|therapist-led strengthening;;vitamin D capsules|cholecalciferol supplements",
        "~postural sway|~centre-of-pressure excursion;;~walking speed|~gait velocity",
        -0.04, (2006, 2022),
    ),
    Topic(
        "PI", "Lactocillin drops in preterm infants",
        "preterm infants|very-low-birth-weight newborns|neonates born before 32 weeks|VLBW babies in intensive care",
        "lactocillin drops|Biogut|enteral LC-7|daily Biogut with feeds|the LC-7 probiotic strain",
        "placebo drops|sterile water|maltodextrin suspension",
        "necrotising enterocolitis|NEC stage II or worse|bowel necrosis by Bell criteria|surgical gut injury",
        "term infants with colic|healthy full-term babies;;infants with gastroschisis|newborns with abdominal wall defects",
        "lactoferrane|Ferrolact|a milk glycoprotein supplement;;bifidotrine|Bifilac|another bacterial preparation",
        "donor human milk|pasteurised banked milk;;oral colistin|an enteral antibiotic",
        "~stool colonisation|~faecal bacterial counts;;~weight gain|~growth velocity",
        -0.60, (2000, 2021),
    ),
)

TOPICS = (*INTERVENTION_TOPICS, *(Topic("E", *fields) for fields in EXPOSURE_TOPICS))

BACKGROUND_CONDITIONS = (
    "psoriasis", "atopic dermatitis", "acne vulgaris", "chronic urticaria", "open-angle glaucoma", "dry eye disease",
    "age-related macular degeneration", "tonsillitis", "sudden hearing loss", "tinnitus", "irritable bowel syndrome",
    "ulcerative colitis", "coeliac disease", "gastro-oesophageal reflux", "chronic hepatitis C", "cirrhosis", "gallstones",
    "iron-deficiency anaemia", "sickle cell disease", "deep vein thrombosis", "multiple myeloma", "lymphoma",
    "breast cancer", "prostate cancer", "bladder cancer", "glioma", "epilepsy", "multiple sclerosis", "restless legs",
    "stroke", "insomnia", "schizophrenia", "alcohol dependence", "anorexia nervosa", "autism", "ADHD", "osteoporosis",
    "knee osteoarthritis", "low back pain", "fibromyalgia", "gout", "lupus", "malaria", "tuberculosis", "HIV infection",
    "dengue", "influenza", "community-acquired pneumonia", "urinary tract infection", "sepsis", "endometriosis",
    "polycystic ovary syndrome", "menopause", "infertility", "pre-eclampsia", "postpartum haemorrhage", "obesity",
    "hypothyroidism", "Cushing syndrome", "periodontitis", "dental caries", "burns", "hip fracture", "ankle sprain",
)
BACKGROUND_AGENTS = (
    "abrelinol", "bectamide", "cirovastane", "doluprine", "elvotamab", "fostarelin", "galvocillin", "hexarone",
    "irbetaxel", "jovalimumab", "ketorelide", "lumetasone", "mavoquine", "nerizole", "ostavir", "pelvicin", "quiramune",
    "resolvane", "sarcotide", "trevolin", "ulmoxane", "varlicept", "wexatine", "xelorine", "yttrabine", "zenofloxane",
    "a nurse-led clinic", "telephone follow-up", "a smartphone diary", "group education", "hydrotherapy",
    "a mediterranean diet", "zinc supplements", "laser treatment", "early mobilisation", "a decision aid",
)
BACKGROUND_OUTCOMES = (
    "disease activity", "symptom scores", "quality of life", "treatment failure", "readmission", "time to recovery",
    "overall survival", "adverse events", "adherence", "cost per patient", "pain", "fatigue", "functional status",
    "relapse", "need for surgery", "laboratory response", "return to work", "patient satisfaction",
)
