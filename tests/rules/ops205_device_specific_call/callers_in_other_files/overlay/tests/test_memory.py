from veomni.trainer.memory import snapshot


def test_snapshot(monkeypatch):
    monkeypatch.setattr("veomni.trainer.memory.torch", None)
    snapshot()
