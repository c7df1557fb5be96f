"""Runs python/wdgnn_torch.py for the Go test of this package.

Usage:  torch_driver.py CASES.json

The file holds the path of wdgnn_torch.py's folder and a list of cases, each with
a model, a graph and signals. For every case the model is loaded, its outputs are
computed with a dense and with a sparse shift, and it is saved back. Outputs are
printed as JSON. A case without a model builds one and saves it.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    job = json.load(f)
sys.path.insert(0, job["python"])

import torch  # noqa: E402

import wdgnn_torch  # noqa: E402


def values(t):
    return [float(v) for v in t.detach().reshape(-1)]


def run(case, saved):
    if not case["model"]:
        torch.manual_seed(1)
        model = wdgnn_torch.WideDeep(
            case["config"], shift="spectral", task="regress", nodes=[2, 0], seed=2**64 - 1,
            extra={"online.w": torch.arange(6.0, dtype=torch.float32).reshape(2, 3)})
    else:
        try:
            wdgnn_torch.load(case["model"])
            said = ""
        except ValueError as err:
            said = str(err)
        assert ("the model learned online" in said) == case["delayed"], said  # as the delayed ones of the cases did
        model = wdgnn_torch.load(case["model"], online=False)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    answer = {"meta": model.meta, "names": list(wdgnn_torch.named_tensors(model))}
    shifts = [torch.tensor(s) for s in case["shifts"]]
    signals = torch.tensor(case["signals"])
    with torch.no_grad():
        if case["delayed"]:
            answer["dense"] = values(model.forward_delayed(shifts, signals))
            answer["sparse"] = values(model.forward_delayed([s.to_sparse() for s in shifts], list(signals)))
        else:
            answer["dense"] = values(model(shifts[0], signals))
            answer["sparse"] = values(model(shifts[0].to_sparse(), signals))
            one_by_one = torch.stack([model(shifts[0].to_sparse(), x) for x in signals])
            assert torch.allclose(one_by_one, model(shifts[0], signals), rtol=1e-5, atol=1e-6)
            precise = torch.stack([model.double()(shifts[0], x) for x in signals])
            assert precise.dtype == torch.float64 and torch.allclose(precise.float(), model(shifts[0], signals).float(), atol=1e-5)
            model.float()
    answer["shift"] = {kind: values(wdgnn_torch.shift(torch.tensor(case["adjacency"]), kind)) for kind in wdgnn_torch.SHIFTS}
    wdgnn_torch.save(model, saved)
    print(wdgnn_torch.summary(model), file=sys.stderr)
    return answer


answers = []
for case in job["cases"]:
    answers.append(run(case, case["saved"]))
    # Where everything is float64 unless it says otherwise, nothing is different.
    torch.set_default_dtype(torch.float64)
    again = run(case, case["saved"] + ".float64")
    torch.set_default_dtype(torch.float32)
    assert again == answers[-1]
    with open(case["saved"], "rb") as one, open(case["saved"] + ".float64", "rb") as other:
        assert one.read() == other.read()

refused = []
for path in job["broken"]:
    try:
        wdgnn_torch.load(path, online=False)
        refused.append("")
    except ValueError as err:
        refused.append(str(err))
json.dump({"answers": answers, "refused": refused}, sys.stdout)
