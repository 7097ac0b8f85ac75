package mayfly;

import static mayfly.Cosmos.P;
import static mayfly.Cosmos.item;
import static mayfly.Cosmos.newContainer;
import static mayfly.Cosmos.refused;
import static mayfly.Mayfly.EVERYDAY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosBatchItemRequestOptions;
import com.azure.cosmos.models.CosmosBatchOperationResult;
import com.azure.cosmos.models.CosmosBatchResponse;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.PartitionKey;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Transactional batch: all of it or nothing; and bulk, where each operation stands alone. */
class BatchTest {
    private static List<Integer> codes(CosmosBatchResponse response) {
        return response.getResults().stream().map(CosmosBatchOperationResult::getStatusCode).toList();
    }

    @Test
    void everyOperation() {
        CosmosContainer c = newContainer(EVERYDAY);
        for (String id : List.of("old", "gone", "patched")) {
            c.createItem(item("{'id':'%s','pk':'p','n':1}", id));
        }
        CosmosBatch batch = CosmosBatch.createCosmosBatch(P);
        batch.createItemOperation(item("{'id':'new','pk':'p'}"));
        batch.upsertItemOperation(item("{'id':'other','pk':'p'}"));
        batch.replaceItemOperation("old", item("{'id':'old','pk':'p','n':2}"));
        batch.readItemOperation("old");
        batch.patchItemOperation("patched", CosmosPatchOperations.create().increment("/n", 5));
        batch.deleteItemOperation("gone");
        CosmosBatchResponse response = c.executeCosmosBatch(batch);
        assertTrue(response.isSuccessStatusCode());
        assertEquals(List.of(201, 201, 200, 200, 200, 204), codes(response));
        assertEquals(2, response.getResults().get(3).getItem(JsonNode.class).get("n").asInt());
        assertEquals(6, c.readItem("patched", P, JsonNode.class).getItem().get("n").asInt());
    }

    @Test
    void aFailureTakesAllBack() {
        Map<Consumer<CosmosBatch>, Integer> failures = new LinkedHashMap<>();
        failures.put(b -> b.createItemOperation(item("{'id':'there','pk':'p'}")), 409);
        failures.put(b -> b.replaceItemOperation("absent", item("{'id':'absent','pk':'p'}")), 404);
        failures.put(b -> b.deleteItemOperation("absent"), 404);
        failures.put(b -> b.readItemOperation("absent"), 404);
        failures.put(b -> b.replaceItemOperation("there", item("{'id':'there','pk':'p'}"), new CosmosBatchItemRequestOptions().setIfMatchETag("\"stale\"")), 412);
        failures.put(b -> b.createItemOperation(item("{'id':'bad','pk':'p','ttl':0}")), 400);
        CosmosContainer c = newContainer(EVERYDAY, p -> p.setDefaultTimeToLiveInSeconds(-1));
        c.createItem(item("{'id':'there','pk':'p'}"));
        failures.forEach((failing, status) -> {
            CosmosBatch batch = CosmosBatch.createCosmosBatch(P);
            batch.createItemOperation(item("{'id':'first','pk':'p'}"));
            failing.accept(batch);
            batch.createItemOperation(item("{'id':'last','pk':'p'}"));
            CosmosBatchResponse response = c.executeCosmosBatch(batch);
            assertFalse(response.isSuccessStatusCode());
            assertEquals(List.of(424, status, 424), codes(response));
            assertEquals(List.of("there"), Cosmos.ids(Cosmos.rows(c, "SELECT * FROM c", JsonNode.class)));
        });
    }

    @Test
    void bulk() {
        CosmosContainer c = newContainer(EVERYDAY);
        List<CosmosItemOperation> operations = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            operations.add(CosmosBulkOperations.getCreateItemOperation(item("{'id':'%d','pk':'p%d'}", i, i % 20), new PartitionKey("p" + i % 20)));
        }
        operations.add(CosmosBulkOperations.getCreateItemOperation(item("{'id':'0','pk':'p0'}"), new PartitionKey("p0")));
        operations.add(CosmosBulkOperations.getDeleteItemOperation("absent", new PartitionKey("p0")));
        Map<Integer, Integer> statuses = new TreeMap<>();
        c.executeBulkOperations(operations).forEach(r -> statuses.merge(r.getResponse().getStatusCode(), 1, Integer::sum));
        assertEquals(Map.of(201, 500, 409, 1, 404, 1), statuses);
        assertEquals(List.of(500), Cosmos.rows(c, "SELECT VALUE COUNT(1) FROM c", Integer.class));
    }

    @Test
    void aHundredOperationsAtMost() {
        CosmosContainer c = newContainer(EVERYDAY);
        CosmosBatch batch = CosmosBatch.createCosmosBatch(P);
        for (int i = 0; i < 100; i++) {
            batch.upsertItemOperation(item("{'id':'%d','pk':'p'}", i));
        }
        assertTrue(c.executeCosmosBatch(batch).isSuccessStatusCode());
        batch.upsertItemOperation(item("{'id':'one too many','pk':'p'}"));
        refused(400, () -> c.executeCosmosBatch(batch));
    }
}
