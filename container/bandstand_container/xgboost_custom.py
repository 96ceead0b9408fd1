"""A user's own metric functions, found by `file.py:function` in the folder of the job's code."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from bandstand.errors import InputError
from bandstand.hyperparameters import nearest
from bandstand.sagemaker_files import Folders
from bandstand.training.judge import CustomMetric

_TOLD = 20
"""Names that a message lists at most."""


def code_folder(environ: Mapping[str, str]) -> Path:
    """Where process 1 has put the job's code.

    Args:
        environ: The environment of a rank.
    """
    return Path(environ.get("SM_MODULE_DIR") or Folders.from_environment(environ).code)


def load_metrics(words: Sequence[str], folder: Path) -> tuple[list[CustomMetric], list[str]]:
    """Load functions; each file runs once, and an exception of its own goes to the caller.

    Args:
        words: What the hyperparameter `custom_metric` names, each as `profit.py:profit`.
        folder: The folder of the job's code.

    Returns:
        The functions, and what is wrong with the names.

    Raises:
        InputError: If a file ends the program, which would look like the end of the training.
    """
    problems: list[str] = []
    functions: list[CustomMetric] = []
    modules: dict[str, ModuleType] = {}
    for word in words:
        file, _, name = word.partition(":")
        problem = _problem_of_place(word, file, name, folder)
        if problem is None:
            if file not in modules:
                modules[file] = _run(folder / file, folder)
            function = getattr(modules[file], name, None)
            problem = _problem_of_call(word, function) or _problem_of_name(word, name, modules[file])
            if problem is None and callable(function):
                functions.append(function)
        problems += [problem] if problem else []
    return functions, problems


def _problem_of_place(word: str, file: str, name: str, folder: Path) -> str | None:
    told = f"Hyperparameter 'custom_metric' names {word!r}"
    if not (file.endswith(".py") and name.isidentifier()):
        return f"{told}; expected a file and a function in it, such as profit.py:profit."
    relative = Path(file)
    if relative.is_absolute() or ".." in relative.parts:
        return f"{told}; expected a path within the code folder {folder}."
    if (folder / relative).is_file():
        return None
    if not folder.is_dir():
        return (
            f"{told}, but there is no code folder {folder}. Name the folder by code in the job file, or by "
            "sagemaker_submit_directory."
        )
    here = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    return f"{told}, but there is no {file} in {folder}.{_hint(file, here)}"


def _problem_of_name(word: str, name: str, module: ModuleType) -> str | None:
    told = f"Hyperparameter 'custom_metric' names {word!r}"
    if callable(getattr(module, name, None)):
        return None
    if hasattr(module, name):
        return f"{told}, which is no function but {type(getattr(module, name)).__name__}."
    own = [other for other, value in vars(module).items() if callable(value) and not other.startswith("_")]
    return f"{told}, but {Path(str(module.__file__)).name} has no function {name}.{_hint(name, own)}"


def _problem_of_call(word: str, function: object) -> str | None:
    told = f"Hyperparameter 'custom_metric' names {word!r}, which"
    if not callable(function):
        return None
    if isinstance(function, type) or inspect.iscoroutinefunction(function):
        what = "a class" if isinstance(function, type) else "async"
        return f"{told} is {what}; expected a function of predictions and rows."
    try:
        inspect.signature(function).bind(None, None)
    except TypeError as error:
        return f"{told} cannot be called with predictions and rows: {error}."
    except ValueError:  # one that does not tell its arguments, as some that are written in C
        return None
    return None


def _hint(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names)
    if near:
        return f" Did you mean {near!r}?"
    more = ", ..." if len(names) > _TOLD else ""
    return f" It has: {', '.join(names[:_TOLD])}{more}." if names else " It has none."


def _run(path: Path, folder: Path) -> ModuleType:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))  # for what else the user has there, as beside a script
    name = path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:  # only for an ending that Python does not know
        raise ImportError(f"{path} cannot be loaded", path=os.fspath(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)  # where what the file defines is looked up later
    try:
        spec.loader.exec_module(module)
    except SystemExit as leave:
        raise InputError(
            f"{path.name}, which custom_metric names, ended the program by sys.exit({leave.code!r}) while it "
            'was loaded. Put what is not the metric below: if __name__ == "__main__".'
        ) from None
    return module
