"""Users, permissions, what a resource token opens, and keys that are wrong."""

import base64

from azure.core.exceptions import AzureError
from azure.cosmos import PartitionKey

from conftest import dialled, new_database, refused


def test_users(client):
    database = new_database(client)
    user = database.create_user({"id": "ada"})
    refused(409, database.create_user, {"id": "ada"})
    database.upsert_user({"id": "bob"})
    assert [u["id"] for u in database.list_users()] == ["ada", "bob"]
    assert [u["id"] for u in database.query_users("SELECT * FROM u WHERE u.id = 'bob'")] == ["bob"]
    database.replace_user(user, {"id": "grace"})
    assert database.get_user_client("grace").read()["id"] == "grace"
    database.delete_user("grace")
    refused(404, database.get_user_client("grace").read)


def test_permissions(client):
    database = new_database(client)
    container = database.create_container("c", PartitionKey("/pk"))
    user = database.create_user({"id": "ada"})
    permission = user.create_permission({"id": "read", "permissionMode": "read", "resource": container.container_link})
    assert permission.permission_mode.lower() == "read"
    assert permission.properties["_token"].startswith("type=resource&ver=1")
    refused(409, user.create_permission, {"id": "again", "permissionMode": "read", "resource": container.container_link})
    assert [p["id"] for p in user.list_permissions()] == ["read"]
    assert [p["id"] for p in user.query_permissions("SELECT * FROM p")] == ["read"]
    changed = user.replace_permission("read", {"id": "read", "permissionMode": "all", "resource": container.container_link})
    assert changed.permission_mode.lower() == "all"
    assert user.get_permission("read").id == "read"
    user.delete_permission("read")
    refused(404, user.get_permission, "read")


def test_resource_tokens(way, loop, everyday, client):
    database = new_database(client)
    opened = database.create_container("opened", PartitionKey("/pk"))
    shut = database.create_container("shut", PartitionKey("/pk"))
    for c in (opened, shut):
        c.create_item({"id": "x", "pk": "p"})

    def permitted(name, mode, **extra):
        user = database.create_user({"id": name})
        return user.create_permission({"id": name, "permissionMode": mode, "resource": opened.container_link, **extra}).properties

    def as_guest(permission):
        # By link: from a list of permissions the SDK keeps only the last name of each link, and then finds none.
        return dialled(way, loop, everyday, credential={opened.container_link: permission["_token"]})

    def container(guest, id):
        return guest.get_database_client(database.id).get_container_client(id)

    with as_guest(permitted("reader", "read")) as guest:
        assert container(guest, "opened").read_item("x", "p")["id"] == "x"
        refused(403, container(guest, "opened").create_item, {"id": "y", "pk": "p"})
        refused(403, container(guest, "opened").delete_item, "x", "p")
    with as_guest(permitted("writer", "all")) as guest:
        container(guest, "opened").create_item({"id": "y", "pk": "p"})
    with as_guest(permitted("partition", "all", resourcePartitionKey=["p"])) as guest:
        assert container(guest, "opened").read_item("x", "p")["id"] == "x"
        refused(403, container(guest, "opened").create_item, {"id": "z", "pk": "q"})


def test_a_wrong_key(way, loop, everyday):
    try:
        with dialled(way, loop, everyday, credential=base64.b64encode(b"wrong").decode()) as client:
            refused(401, client.list_databases)
    except AzureError as e:  # the blocking client looks at the account at once
        assert e.status_code == 401
