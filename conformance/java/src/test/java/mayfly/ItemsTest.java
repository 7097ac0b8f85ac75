package mayfly;

import static mayfly.Cosmos.P;
import static mayfly.Cosmos.item;
import static mayfly.Cosmos.newContainer;
import static mayfly.Cosmos.refused;
import static mayfly.Mayfly.EVERYDAY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosItemIdentity;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.UniqueKey;
import com.azure.cosmos.models.UniqueKeyPolicy;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Items: every write, ETags, patch, reading many, awkward ids. */
class ItemsTest {
    private static final CosmosItemRequestOptions NONE = new CosmosItemRequestOptions();

    private static CosmosItemRequestOptions ifMatch(String etag) {
        return new CosmosItemRequestOptions().setIfMatchETag(etag);
    }

    @Test
    void everyWrite() {
        CosmosContainer c = newContainer(EVERYDAY);
        var created = c.createItem(item("{'id':'1','pk':'p','n':1}"));
        assertEquals(201, created.getStatusCode());
        assertTrue(created.getRequestCharge() > 0);
        refused(409, () -> c.createItem(item("{'id':'1','pk':'p'}")));
        assertEquals(created.getETag(), c.readItem("1", P, JsonNode.class).getETag());
        assertEquals(200, c.upsertItem(item("{'id':'1','pk':'p','n':2}")).getStatusCode());
        assertEquals(201, c.upsertItem(item("{'id':'2','pk':'p'}")).getStatusCode());
        assertEquals(3, c.replaceItem(item("{'id':'1','pk':'p','n':3}"), "1", P, NONE).getItem().get("n").asInt());
        refused(404, () -> c.replaceItem(item("{'id':'3','pk':'p'}"), "3", P, NONE));
        assertEquals(204, c.deleteItem("1", P, NONE).getStatusCode());
        refused(404, () -> c.deleteItem("1", P, NONE));
        refused(404, () -> c.readItem("1", P, JsonNode.class));
        var quiet = new CosmosItemRequestOptions().setContentResponseOnWriteEnabled(false);
        assertNull(c.createItem(item("{'id':'quiet','pk':'p'}"), P, quiet).getItem());
    }

    @Test
    void etags() {
        CosmosContainer c = newContainer(EVERYDAY);
        String first = c.createItem(item("{'id':'x','pk':'p'}")).getETag();
        var x = item("{'id':'x','pk':'p','n':1}");
        String second = c.replaceItem(x, "x", P, ifMatch(first)).getETag();
        assertNotEquals(first, second);
        refused(412, () -> c.replaceItem(x, "x", P, ifMatch(first)));
        refused(412, () -> c.upsertItem(x, P, ifMatch(first)));
        refused(412, () -> c.deleteItem("x", P, ifMatch(first)));
        assertEquals(304, c.readItem("x", P, new CosmosItemRequestOptions().setIfNoneMatchETag(second), JsonNode.class).getStatusCode());
        assertEquals(204, c.deleteItem("x", P, ifMatch(second)).getStatusCode());
    }

    @Test
    void patch() {
        CosmosContainer c = newContainer(EVERYDAY);
        c.createItem(item("{'id':'x','pk':'p','n':1,'list':[1,2],'old':true,'name':'a'}"));
        var all = CosmosPatchOperations.create().increment("/n", 4.5).add("/list/-", 3).set("/nested", item("{'deep':null}"))
                .replace("/name", "b").remove("/old").move("/list", "/moved");
        JsonNode x = c.patchItem("x", P, all, JsonNode.class).getItem();
        assertEquals(item("{'n':5.5,'nested':{'deep':null},'name':'b','moved':[1,2,3]}").toString(),
                item("{'n':%s,'nested':%s,'name':%s,'moved':%s}", x.get("n"), x.get("nested"), x.get("name"), x.get("moved")).toString());
        assertFalse(x.has("old") || x.has("list"));

        var step = CosmosPatchOperations.create().increment("/n", 1);
        c.patchItem("x", P, step, new CosmosPatchItemRequestOptions().setFilterPredicate("FROM c WHERE c.name = 'b'"), JsonNode.class);
        refused(412, () -> c.patchItem("x", P, step, new CosmosPatchItemRequestOptions().setFilterPredicate("FROM c WHERE c.name = 'a'"), JsonNode.class));
        refused(400, () -> c.patchItem("x", P, CosmosPatchOperations.create().replace("/absent", 1), JsonNode.class));
        refused(404, () -> c.patchItem("y", P, step, JsonNode.class));
        assertEquals(6.5, c.readItem("x", P, JsonNode.class).getItem().get("n").asDouble());
    }

    @Test
    void uniqueKeys() {
        CosmosContainer c = newContainer(EVERYDAY,
                p -> p.setUniqueKeyPolicy(new UniqueKeyPolicy().setUniqueKeys(List.of(new UniqueKey(List.of("/email"))))));
        c.createItem(item("{'id':'1','pk':'p','email':'a'}"));
        refused(409, () -> c.createItem(item("{'id':'2','pk':'p','email':'a'}")));
        c.createItem(item("{'id':'2','pk':'q','email':'a'}"));
    }

    @Test
    void readMany() {
        CosmosContainer c = newContainer(EVERYDAY);
        IntStream.range(0, 30).forEach(i -> c.createItem(item("{'id':'%d','pk':'p%d'}", i, i % 7)));
        var wanted = IntStream.of(0, 3, 29, 11, 99).mapToObj(i -> new CosmosItemIdentity(new PartitionKey("p" + i % 7), "" + i)).toList();
        assertEquals(List.of("0", "11", "29", "3"), Cosmos.ids(c.readMany(wanted, JsonNode.class).getResults()).stream().sorted().toList());
        assertEquals(5, c.readAllItems(new PartitionKey("p0"), JsonNode.class).stream().count());
        c.deleteAllItemsByPartitionKey(new PartitionKey("p0"), NONE);
        assertEquals(25, Cosmos.rows(c, "SELECT * FROM c", JsonNode.class).size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"with space", "ünï", "a+b&c=d", "per%cent", "quote'\"", "(paren)", "a:b@c"})
    void awkwardIds(String id) {
        CosmosContainer c = newContainer(EVERYDAY);
        var made = item("{'pk':'p'}").put("id", id);
        c.createItem(made);
        assertEquals(id, c.readItem(id, P, JsonNode.class).getItem().get("id").asText());
        c.replaceItem(made.put("n", 1), id, P, NONE);
        c.deleteItem(id, P, NONE);
        refused(404, () -> c.readItem(id, P, JsonNode.class));
    }

    /** A class of one's own, as most Java programs have them. */
    public record Order(String id, String pk, List<Line> lines) {
        public record Line(String sku, double price) { }
    }

    @Test
    void records() {
        CosmosContainer c = newContainer(EVERYDAY);
        var order = new Order("SO05", "p", List.of(new Order.Line("a", 1.5), new Order.Line("b", 2)));
        c.createItem(order);
        assertEquals(order, c.readItem("SO05", P, Order.class).getItem());
        assertEquals(List.of(order), Cosmos.rows(c, "SELECT c.id, c.pk, c.lines FROM c WHERE c.lines[0].price > 1", Order.class));
    }
}
