"""Text and graph features from the command line, as a process."""

import json


def test_graph_features_are_built_searched_and_evaluated(shell, tmp_path, tiny_encoder):
    folder, index = tmp_path / "numbers", tmp_path / "numbers.odx"
    folder.mkdir()
    links = [f"n{number}\tweek\tn{(number + 7) % 150}" for number in range(150)]
    links += [f"n{number}\tmonth\tn{(number + 30) % 150}" for number in range(150)]
    for split, part in (("train", links[80:]), ("valid", links[:60]), ("test", links[60:80])):
        (folder / f"{split}.txt").write_text("\n".join(part) + "\n")
    status, _, err = shell(
        "build",
        folder,
        "-o",
        index,
        "--encoder",
        tiny_encoder,
        "--no-entailment",
        "--device",
        "cpu",
    )
    assert status == 0, err
    assert "ComplEx" in err  # the progress bar of its training
    status, out, _ = shell("tails", index, "n100", "week", "-k", "1", "--json")
    assert (status, "ComplEx" in json.loads(out)["method"]) == (0, True)
    found = {}
    for score in ("all", "text", "kge", "case-based"):
        status, out, err = shell("eval", "kgc", index, folder, "--split", "valid", "--score", score)
        assert status == 0, err
        found[score] = json.loads(out)["mrr"]
    assert min(found["all"], found["kge"]) > 0.8  # texts of numbers do not show links
    assert found["text"] < 0.5
    status, _, err = shell("eval", "kgc", index, folder, "--score", "best")
    assert (status, "expected one of all, text, kge, case-based, found 'best'" in err) == (
        2,
        True,
    )
    assert (
        shell(
            "build",
            folder,
            "-o",
            index,
            "--encoder",
            tiny_encoder,
            "--no-structure",
            "--no-entailment",
            "-q",
        )[0]
        == 0
    )
    status, _, err = shell("eval", "kgc", index, folder, "--score", "kge")
    assert (status, "no kge score to rank by: it was built without" in err) == (1, True)
