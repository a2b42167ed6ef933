"""The glossary, and its lint over all of it: it finds every wrong form and no right one."""

import csv
from pathlib import Path

import pytest

from build_words import BY_CHANCE, Glossary

PATH = Path(__file__).resolve().parents[1] / "data" / "glossary.csv"
GLOSSARY = Glossary(PATH)


def forms(column):
    return [(form, row) for row in GLOSSARY.rows for form in row[column].split("、") if form]


def test_columns_and_size():
    with PATH.open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == [
            "section", "english", "zh", "symbol", "avoid", "lint", "warn", "review",
        ]  # fmt: skip
    assert len(GLOSSARY.rows) == 176
    assert all(row["section"] and row["english"] and row["zh"] for row in GLOSSARY.rows)
    assert all(None not in row and None not in row.values() for row in GLOSSARY.rows)
    pairs = [(row["english"], row["section"]) for row in GLOSSARY.rows]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize("column", ["lint", "warn"])
def test_marked_forms_are_among_those_to_avoid(column):
    for form, row in forms(column):
        assert form in row["avoid"], (form, row["avoid"])
    assert not [form for form, row in forms(column) if set(form) & set("()（）;；")]


def test_the_trap_of_row_and_column():
    zh = {row["english"]: row["zh"] for row in GLOSSARY.rows}
    assert zh["row"].startswith("列")
    assert zh["column"].startswith("行")


def test_no_form_is_both_right_and_wrong():
    assert GLOSSARY.right.isdisjoint(form for form, _ in forms("lint"))


@pytest.mark.parametrize("right", sorted(GLOSSARY.right))
def test_no_right_form_is_reported(right):
    assert GLOSSARY.problems(right) == []
    assert GLOSSARY.problems(f"這裡的{right}，也就是「{right}」。") == []


@pytest.mark.parametrize("wrong", sorted({form for form, _ in forms("lint")}))
def test_every_wrong_form_is_reported(wrong):
    found = GLOSSARY.problems(f"這裡的{wrong}。")
    assert any(message.startswith(f"{wrong} ") for message in found)


def test_a_wrong_form_beside_right_ones_is_reported():
    # 平均值 holds 均值, and 值, 行, 縮放 and 注意力 are right by themselves
    assert GLOSSARY.problems("平均值就是平均值") == []
    assert GLOSSARY.problems("平均值就是均值")
    assert GLOSSARY.problems("運行這一行")
    assert GLOSSARY.problems("縮放點乘注意力")


@pytest.mark.parametrize("sentence", [
    "矩陣由整數組成。", "矩陣內存在兩個零。", "兩者不同的地方差在縮放。", "梯度的改變量",
    "信賴帶寬度", "真實參數", "其實參考", "機率質量",
])  # fmt: skip
def test_wrong_forms_that_stand_by_chance_are_not_reported(sentence):
    assert GLOSSARY.problems(sentence) == []


def test_each_exception_is_needed():
    wrong = {form for form, _ in forms("lint")}
    assert all(any(form in phrase for form in wrong) for phrase in BY_CHANCE)


def test_forms_with_another_meaning_only_warn():
    assert GLOSSARY.problems("通過測試的數據") == []
    assert len(GLOSSARY.problems("通過測試的數據", warn=True)) == 2
    assert GLOSSARY.problems("第三列和第二行", warn=True) == []  # right in their own rows
