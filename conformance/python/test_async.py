"""What only the asyncio clients can do: many calls at once, and tasks that are cancelled."""

import asyncio

import azure.cosmos.aio
import pymongo
from azure.cosmos import PartitionKey

from conftest import KEY, new_name


def test_many_calls_at_once(everyday):
    async def main():
        async with azure.cosmos.aio.CosmosClient(everyday.https, KEY, retry_total=0) as client:
            database = await client.create_database(new_name())
            c = await database.create_container("c", PartitionKey("/pk"))
            await asyncio.gather(*(c.create_item({"id": f"{i}", "pk": f"p{i % 10}", "n": 0}) for i in range(300)))
            step = [{"op": "incr", "path": "/n", "value": 1}]
            await asyncio.gather(*(c.patch_item("7", "p7", step) for _ in range(50)))
            assert (await c.read_item("7", "p7"))["n"] == 50

            async def count(key):
                return len([i async for i in c.query_items("SELECT * FROM c", partition_key=key)])

            assert await asyncio.gather(*(count(f"p{k}") for k in range(10))) == [30] * 10

    asyncio.run(main())


def test_transactions_that_collide(everyday):
    """with_transaction repeats what another transaction was in the way of; no money is lost."""
    async def main():
        async with pymongo.AsyncMongoClient(everyday.mongo) as client:
            accounts = client[new_name()].accounts
            await accounts.insert_many([{"_id": i, "balance": 100} for i in range(4)])

            async def move(worker):
                async with client.start_session() as session:
                    for i in range(10):
                        async def work(session):
                            await accounts.update_one({"_id": (worker + i) % 4}, {"$inc": {"balance": -1}}, session=session)
                            await accounts.update_one({"_id": (worker + i + 1) % 4}, {"$inc": {"balance": 1}}, session=session)

                        await session.with_transaction(work)

            await asyncio.gather(*map(move, range(4)))
            [total] = await (await accounts.aggregate([{"$group": {"_id": None, "sum": {"$sum": "$balance"}}}])).to_list()
            assert total["sum"] == 400

    asyncio.run(main())


def test_a_change_stream_that_is_cancelled(everyday):
    async def main():
        async with pymongo.AsyncMongoClient(everyday.mongo) as client:
            c = client[new_name()].c
            await c.insert_one({"_id": 0})
            seen = asyncio.Queue()

            async def watch():
                async with await c.watch() as stream:
                    await seen.put("ready")
                    async for event in stream:
                        await seen.put(event["documentKey"]["_id"])

            watcher = asyncio.create_task(watch())
            assert await seen.get() == "ready"
            for i in range(1, 4):
                await c.insert_one({"_id": i})
                assert await seen.get() == i
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)
            assert await c.count_documents({}) == 4

    asyncio.run(asyncio.wait_for(main(), 60))
