"""The samples of the service's own articles on expiry, as they were in 2018 to
2020, in this client's words: "orders" and "salesdb" are theirs."""

from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from conftest import new_database, refused

CUSTOMER = "CO18009186470"
DAY = 24 * 60 * 60


def orders(client, **definition):
    database = new_database(client)
    return database, database.create_container("orders", PartitionKey("/customerId"), offer_throughput=20000, **definition)


def exists(container, id):
    try:
        return container.read_item(id, CUSTOMER)["id"] == id
    except CosmosResourceNotFoundError:
        return False


def test_enabling_without_a_default(clocked, virtual):
    _, c = orders(clocked, default_ttl=-1)
    assert c.read()["defaultTtl"] == -1
    assert c.get_throughput().offer_throughput == 20000
    c.create_item({"id": "SO04", "customerId": CUSTOMER})
    c.create_item({"id": "SO05", "customerId": CUSTOMER, "ttl": 30 * DAY})
    virtual.advance(30 * DAY - 1)
    assert exists(c, "SO05")
    virtual.advance(1)
    assert not exists(c, "SO05") and exists(c, "SO04")
    virtual.advance(10 * 365 * DAY)
    assert exists(c, "SO04")


def test_ninety_days_by_default(clocked, virtual):
    _, c = orders(clocked, default_ttl=90 * DAY)
    c.create_item({"id": "SO04", "customerId": CUSTOMER})
    c.create_item({"id": "SO05", "customerId": CUSTOMER, "ttl": 30 * DAY})
    virtual.advance(30 * DAY)
    assert exists(c, "SO04") and not exists(c, "SO05")
    virtual.advance(60 * DAY - 1)
    assert exists(c, "SO04")
    virtual.advance(1)
    assert not exists(c, "SO04")


def test_extending(clocked, virtual):
    """Any write sets _ts and starts the countdown again; ttl changes like any other field."""
    _, c = orders(clocked, default_ttl=-1)
    c.create_item({"id": "SO05", "customerId": CUSTOMER, "ttl": 100})
    virtual.advance(99)
    order = c.read_item("SO05", CUSTOMER)
    before = order["_ts"]
    order["ttl"] = 60 * 30 * 30
    assert c.replace_item(order, order)["_ts"] == before + 99
    virtual.advance(60 * 30 * 30 - 1)
    assert exists(c, "SO05")
    virtual.advance(1)
    assert not exists(c, "SO05")


def test_removing(clocked, virtual):
    """Without the field the default applies; -1 neither expires nor inherits."""
    _, c = orders(clocked, default_ttl=1000)
    for id in ("inherits", "stays"):
        c.create_item({"id": id, "customerId": CUSTOMER, "ttl": 100})
    order = c.read_item("inherits", CUSTOMER)
    del order["ttl"]
    c.replace_item(order, order)
    order = c.read_item("stays", CUSTOMER)
    order["ttl"] = -1
    c.replace_item(order, order)
    virtual.advance(999)
    assert exists(c, "inherits")
    virtual.advance(1)
    assert not exists(c, "inherits") and exists(c, "stays")


def test_disabling(clocked, virtual):
    """Without the property nothing expires, not even what has a ttl of its own."""
    database, c = orders(clocked, default_ttl=100)
    c.create_item({"id": "SO04", "customerId": CUSTOMER})
    c.create_item({"id": "SO05", "customerId": CUSTOMER, "ttl": 30})
    database.replace_container(c, PartitionKey("/customerId"))
    assert "defaultTtl" not in c.read()
    virtual.advance(365 * DAY)
    assert exists(c, "SO04") and exists(c, "SO05")


def test_what_indexing_ttl_needs(clocked):
    none = {"indexingMode": "none", "automatic": False}
    error = refused(400, orders, clocked, default_ttl=100, indexing_policy=none)
    assert "none" in str(error) and "defaultTtl" in str(error)
    orders(clocked, default_ttl=100, indexing_policy={"indexingMode": "lazy", "automatic": True})


def test_a_part_with_a_lifetime_of_its_own(clocked, virtual):
    """TTL is of whole items: what ends earlier lives in an item beside."""
    _, c = orders(clocked, default_ttl=-1)
    c.create_item({"id": "SO05", "customerId": CUSTOMER})
    c.create_item({"id": "SO05-discount", "customerId": CUSTOMER, "order": "SO05", "ttl": 60})
    virtual.advance(60)
    assert exists(c, "SO05") and not exists(c, "SO05-discount")
