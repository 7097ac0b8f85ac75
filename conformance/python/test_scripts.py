"""Stored procedures, triggers, functions: kept, given back, and run."""

from urllib.parse import unquote

import pytest

from blocking import Blocking
from conftest import new_container, refused

KINDS = [
    ("stored_procedure", "stored_procedures", {}),
    ("trigger", "triggers", {"triggerType": "Pre", "triggerOperation": "All"}),
    ("user_defined_function", "user_defined_functions", {}),
]


@pytest.mark.parametrize("one, all, extra", KINDS)
def test_kept(client, one, all, extra):
    scripts = new_container(client).scripts

    def act(verb, *args):
        return getattr(scripts, f"{verb}_{one}")(*args)

    body = {"id": "s", "body": "function () { return 1; }", **extra}
    assert body.items() <= act("create", body).items()
    refused(409, act, "create", body)
    act("create", {**body, "id": "t"})
    assert [s["id"] for s in getattr(scripts, f"list_{all}")()] == ["s", "t"]
    assert [s["id"] for s in getattr(scripts, f"query_{all}")("SELECT * FROM c WHERE c.id = 't'")] == ["t"]
    changed = act("replace", "s", {**body, "body": "function () { return 2; }"})
    assert "2" in changed["body"] and act("get", "s")["body"] == changed["body"]
    act("delete", "s")
    refused(404, act, "get", "s")


def run(container, body, *args, **options):
    id = f"s{len(list(container.scripts.list_stored_procedures()))}"
    container.scripts.create_stored_procedure({"id": id, "body": body})
    options["parameters" if isinstance(container, Blocking) else "params"] = list(args)
    return container.scripts.execute_stored_procedure(id, partition_key="p", **options)


def test_a_procedure_answers(client):
    body = 'function (name, n) { getContext().getResponse().setBody({greeting: "Hello, " + name, twice: 2 * n}); }'
    assert run(new_container(client), body, "Ada", 21) == {"greeting": "Hello, Ada", "twice": 42}


CREATE = """
function (count, fail) {
  const collection = getContext().getCollection();
  let made = 0;
  function next() {
    if (made === count) {
      if (fail) throw new Error("taken back");
      return getContext().getResponse().setBody(made);
    }
    collection.createDocument(collection.getSelfLink(), {id: "i" + made, pk: "p", n: made}, function (error) {
      if (error) throw error;
      made++;
      next();
    });
  }
  next();
}"""


def test_a_procedure_is_one_transaction(client):
    c = new_container(client)
    assert run(c, CREATE, 4, False) == 4
    assert sorted(i["n"] for i in c.read_all_items()) == [0, 1, 2, 3]
    for i in range(4):
        c.delete_item(f"i{i}", "p")
    assert "taken back" in str(refused(400, run, c, CREATE, 4, True))
    assert list(c.read_all_items()) == []


def test_a_procedure_sees_no_expired_item(clocked, virtual):
    c = new_container(clocked, default_ttl=10)
    c.create_item({"id": "x", "pk": "p"})
    count = """function () {
      const c = getContext().getCollection();
      c.queryDocuments(c.getSelfLink(), "SELECT * FROM c", function (error, items) {
        if (error) throw error;
        getContext().getResponse().setBody(items.length);
      });
    }"""
    assert run(c, count) == 1
    virtual.advance(10)
    assert run(c, count) == 0


def test_what_a_procedure_logs(client):
    c = new_container(client)
    run(c, 'function () { console.log("so far"); getContext().getResponse().setBody(1); }', enable_script_logging=True)
    assert unquote(c.client_connection.last_response_headers["x-ms-documentdb-script-log-results"]) == "so far"


def test_triggers(client):
    c = new_container(client)
    c.scripts.create_trigger({
        "id": "stamp", "triggerType": "Pre", "triggerOperation": "Create",
        "body": "function () { const r = getContext().getRequest(); const i = r.getBody(); i.stamped = true; r.setBody(i); }",
    })
    c.scripts.create_trigger({"id": "no", "triggerType": "Post", "triggerOperation": "All", "body": 'function () { throw new Error("no"); }'})
    assert c.create_item({"id": "1", "pk": "p"}, pre_trigger_include="stamp")["stamped"] is True
    assert "stamped" not in c.create_item({"id": "2", "pk": "p"})
    refused(400, c.create_item, {"id": "3", "pk": "p"}, post_trigger_include="no")
    refused(404, c.read_item, "3", "p")
