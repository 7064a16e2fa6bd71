"""Numbers, money, dates, times and units as a person would read them (issue 7, "Text and language")."""

from __future__ import annotations

import pytest

from zonos.text.espeak import phonemise
from zonos.text.normalise import normalise
from zonos.text.numbers import read_amount


@pytest.mark.parametrize(
    ("language", "text", "spoken"),
    [
        # row: number words in the line's language
        ("de", "Ich habe 3 Katzen und 1.234,56 Euro.", "Ich habe 3 Katzen und 1234 Euro 56."),
        ("fr-fr", "Il y a 21 élèves.", "Il y a 21 élèves."),
        ("es", "2 gatos", "2 gatos"),
        ("ru", "5 км за 2,5 ч", "5 километров за 2 запятая 5 ч"),
        ("nl", "1.5 miljoen", "1 komma 5 miljoen"),
        ("sv", "12 500 kr", "12500 kronor"),
        ("hi", "₹5,00,000", "500000 रुपए"),
        ("ne", "म 5 वटा", "म ५ वटा"),
        ("cmn", "2024年，3.14", "二零二四年，3点一四"),
        # row: money
        ("en-us", "It cost $1.5 million.", "It cost one point five million dollars."),
        ("en-gb", "£12,500.75", "twelve thousand five hundred pounds and seventy-five pence"),
        (
            "en-us",
            "$3.50, $1, $0.01, $.5",
            "three dollars and fifty cents, one dollar, one cent, fifty cents",
        ),
        ("en-us", "-$5 or $-5", "minus five dollars or minus five dollars"),
        ("en-us", "$5-10", "five to ten dollars"),
        ("en-us", "€20 and 20€", "twenty euros and twenty euros"),
        ("en-us", "USD 5 and 5 EUR", "five dollars and five euros"),
        ("en-us", "a $2bn deal", "a two billion dollars deal"),
        ("de", "2,50 €", "2 Euro 50"),
        ("de", "1,5 Mio. €", "1 Komma 5 Millionen Euro"),
        ("fr-fr", "1,5 million €", "1 virgule 5 million d'euros"),
        ("fr-ch", "1'234.50 CHF", "1234 francs 50"),
        ("it", "€ 3,50", "3 euro e 50"),
        ("pt-br", "R$ 10,50", "10 reais e 50"),
        ("pl", "2,50 zł i 5 zł", "2 złote 50 i 5 złotych"),
        # decimals, years, ordinals
        ("en-us", "Pi is 3.14159.", "Pi is three point one four one five nine."),
        (
            "en-us",
            "in 1999, 1905, 2005, 2024",
            "in nineteen ninety-nine, nineteen oh five, two thousand five, twenty twenty-four",
        ),
        ("en-us", "1990s, '80s and 80s", "nineteen nineties, eighties and eighties"),
        ("en-us", "1st 2nd 1,000th", "first second one thousandth"),
        ("en-us", "007", "zero zero seven"),
        ("en-us", "1,234 and 1.234", "one thousand two hundred thirty-four and one point two three four"),
        ("en-us", "v1.2.3 and 1,2,3", "v one point two point three and one, two, three"),
        ("en-us", "C3PO, mp3, 4K", "C3PO, mp3, 4K"),
        ("en-us", "#5 of 1/2", "number five of one half"),
        ("de", "am 21. März 1999", "am einundzwanzigsten März neunzehnhundertneunundneunzig"),
        ("de", "der 3. Mai", "der dritte Mai"),
        ("de", "im 19. Jahrhundert, die 3. Klasse", "im neunzehnten Jahrhundert, die dritte Klasse"),
        ("fi", "klo 10.30", "klo 10 30"),
        ("fr-fr", "1er, 2e", "premier, deuxième"),
        ("es", "1º y 2ª", "primero y segunda"),
        # dates and times
        ("en-us", "on 3/4/2024", "on March fourth, twenty twenty-four"),
        ("en-gb", "on 3/4/2024", "on the third of April twenty twenty-four"),
        ("en-us", "2024-03-21", "March twenty-first, twenty twenty-four"),
        ("de", "am 21.03.2024", "am einundzwanzigsten März 2024"),
        ("ru", "21.03.2024", "21 марта 2024"),
        ("cs", "dne 21. března 2024", "dne 21 března 2024"),
        ("lt", "2024-03-21", "2024 kovo 21"),
        ("hu", "2024. március 21-én", "2024 március 21-én"),
        ("ht", "21.03.2024", "21 3 2024"),
        ("mt", "$3", "3 dollar"),
        ("en-us", "at 10:30 pm", "at ten thirty PM"),
        ("en-us", "at 5 p.m. He left", "at five PM. He left"),
        ("en-us", "10:05 and 10:00", "ten oh five and ten o'clock"),
        ("de", "um 10:30 Uhr und 10.15 Uhr", "um 10 Uhr 30 und 10 Uhr 15"),
        ("fr-fr", "à 10h30", "à 10 heures 30"),
        ("cmn", "10:30", "10点30分"),
        # units, percent, signs, telephone numbers
        ("en-us", "5 km/h, 1 kg, 20 °C", "five kilometers per hour, one kilogram, twenty degrees Celsius"),
        ("en-us", "5-10%, 50 %", "five to ten percent, fifty percent"),
        ("ru", "1% и 5%", "1 процент и 5 процентов"),
        ("ar", "5%", "5 بالمئة"),
        ("tr", "%5", "yüzde 5"),
        ("de", "-3,5 °C", "minus 3 Komma 5 Grad Celsius"),
        ("en-us", "555-1234", "five five five, one two three four"),
        ("en-us", "+49 170 1234567", "plus four nine, one seven zero, one two three four five six seven"),
    ],
)
def test_read_as_a_person_would(language: str, text: str, spoken: str) -> None:
    assert normalise(text, language) == spoken


@pytest.mark.parametrize(
    ("language", "text", "phonemes"),
    [
        ("de", "3 Katzen", "dɾˈaɪ"),
        ("fr-fr", "21 élèves", "vɛ̃teˈœ̃"),
        ("es", "2 gatos", "dˈos"),
        ("ru", "5 рублей", "pʲˈɑtʲ"),
        ("hi", "5 रुपये", "pˈa"),
        ("cmn", "3个", "sˈa5n"),
        ("ne", "5 वटा", "pˈaːnc"),
        ("kl", "0 8 28 66858", "n"),
    ],
)
def test_number_words_in_the_lines_language(language: str, text: str, phonemes: str) -> None:
    found = phonemise(normalise(text, language), language)
    assert found.startswith(phonemes)
    assert "θɹˈiː" not in found


@pytest.mark.parametrize(
    "digits", ["9" * 16, "1" * 60, "12345678901234567890.5", "$" + "9" * 40, "0" * 30, "9" * 500]
)
@pytest.mark.parametrize("language", ["en-us", "de", "ja", "cmn", "kl", "fr-fr"])
def test_huge_numbers_never_raise(digits: str, language: str) -> None:
    assert phonemise(normalise(digits, language), language)


@pytest.mark.parametrize(
    ("language", "written", "whole", "fraction"),
    [
        ("de", "1.234,56", "1234", "56"),
        ("en-us", "1.234,56", "1234", "56"),
        ("de", "1.234", "1234", ""),
        ("en-us", "1.234", "1", "234"),
        ("de", "3.14", "3", "14"),
        ("en-us", "12,34,567", "1234567", ""),
        ("fr-ch", "1'234.50", "1234", "50"),
        ("es", "1.000.000", "1000000", ""),
        ("en-us", "0.500", "0", "500"),
        ("de", "0.500", "0", "500"),
    ],
)
def test_separators_of_the_language(language: str, written: str, whole: str, fraction: str) -> None:
    amount = read_amount(written, language)
    assert (amount.whole, amount.fraction) == (whole, fraction)


@pytest.mark.parametrize(
    "text",
    [
        "$,5",
        "$",
        "$$",
        "€",
        "1..2",
        "1,,2",
        "99/99/9999",
        "25:61",
        "2024-99-99",
        "5:5",
        "-",
        "--5",
        "%",
        "1/0",
        "0x1F",
        "1e400",
    ],
)
def test_broken_numbers_pass_through(text: str) -> None:
    for language in ("en-us", "de", "ja", "ar", "fr-fr"):
        assert isinstance(normalise(text, language), str)


def test_native_digits_are_digits() -> None:
    assert normalise("٣٫١٤", "ar") == "3.14"
    assert normalise("५ किलो", "hi") == "5 किलो"


@pytest.mark.parametrize(
    ("language", "text", "spoken"),
    [
        ("en-us", "We sell fish & chips.", "We sell fish and chips."),
        ("en-us", "AT&T and R&D", "AT and T and R and D"),
        ("de", "Müller & Söhne", "Müller und Söhne"),
        ("fr-fr", "poisson & frites", "poisson et frites"),
        ("en-us", "a && b", "a && b"),
        ("en-us", "&", "&"),
    ],
)
def test_an_ampersand_is_the_word_that_it_stands_for(language: str, text: str, spoken: str) -> None:
    """Case: whisper heard "fishhips"."""
    assert normalise(text, language) == spoken
