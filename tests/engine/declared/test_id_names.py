"""Column names that identify people, and innocent names that do not."""

from __future__ import annotations

import pytest

from dpengine.declared.id_names import naming_people, numbering_people, surely_numbers_people

OF_PEOPLE = """Roll number|Register no|Candidate ref|Staff no|Personnel number|Payroll no|Card no.|e-mail|E-mail|Name
Ime in priimek|Šifra učenca|Evidenčna št.|Davčna številka|Davčna št.|Telefon|Vpisna številka|NHS number|Pupil no.
Št. kartoteke|PatNr|patient_id|Student code|Learner ref|Pupil's no|Membership no|Koda stranke|Tax no|Full name|EMŠO
Šif. pac.|sif_pac|Šif. udel.|Štev. zav.|Stud. no
Kundennummer|customerId|Email address|Phone number|Candidate reference|Medical record number|Hospital no"""
NAMED = "Learner|Passenger|Subscriber|Member|Patient|Dijak|Candidate"
INNOCENT = """Card type|Name of ward|Ward name|School name|Drug name|Email consent|Phone type|Register date|Staff count
Number of patients|Number of children|No of visits|Št. obiskov|Št. otrok|Št. učencev|Št. članov|Client country code
NHS region code|NHS trust|Medical code|Product code|Postcode|House number|Room no|Order number|Invoice no|Code|Number
Temp.|Vrst. št.|Obr. št.|Šif. izd.|use_code|Post. št.
Key|Member since|Member type|Student loan|Patient satisfaction|Customer rating|Roll call|Tax|Insurance|Card|Account type
Ime|First name|Surname|Ime oddelka|Naziv|Šifra izdelka|Šifra diagnoze|Davčna stopnja|Kartica|Age|Income|Town|Grade
Hospital code|Hospital|Policy|Policy type|Patient age|Candidate party|Number of members|Passport country|Ref|Weight"""


@pytest.mark.parametrize("name", OF_PEOPLE.replace("\n", "|").split("|"))
def test_names_that_number_people(name: str) -> None:
    assert numbering_people([name]) == [name]


@pytest.mark.parametrize("name", NAMED.split("|"))
def test_words_for_a_person(name: str) -> None:
    assert naming_people([name]) == [name] and not numbering_people([name])


@pytest.mark.parametrize("name", INNOCENT.replace("\n", "|").split("|"))
def test_innocent_names(name: str) -> None:
    assert not numbering_people([name]) and not naming_people([name])


def test_names_that_may_number_something_else_are_not_sure() -> None:
    assert surely_numbers_people("Roll number") and surely_numbers_people("Pupil no.")
    assert not any(map(surely_numbers_people, ("Register no", "Card no.", "Staff no", "Name", "Evidenčna št.")))
