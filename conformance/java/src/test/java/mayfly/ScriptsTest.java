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
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosStoredProcedureProperties;
import com.azure.cosmos.models.CosmosStoredProcedureRequestOptions;
import com.azure.cosmos.models.CosmosStoredProcedureResponse;
import com.azure.cosmos.models.CosmosTriggerProperties;
import com.azure.cosmos.models.CosmosUserDefinedFunctionProperties;
import com.azure.cosmos.models.TriggerOperation;
import com.azure.cosmos.models.TriggerType;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Stored procedures, triggers, functions: kept, given back, and run. */
class ScriptsTest {
    private static CosmosStoredProcedureResponse run(CosmosContainer c, String body, Object... args) {
        c.getScripts().createStoredProcedure(new CosmosStoredProcedureProperties("s" + body.hashCode() + args.length, body));
        return again(c, body, args);
    }

    private static CosmosStoredProcedureResponse again(CosmosContainer c, String body, Object... args) {
        var options = new CosmosStoredProcedureRequestOptions().setPartitionKey(P).setScriptLoggingEnabled(true);
        return c.getScripts().getStoredProcedure("s" + body.hashCode() + args.length).execute(List.of(args), options);
    }

    @Test
    void kept() {
        var scripts = newContainer(EVERYDAY).getScripts();
        String body = "function () { return 1; }";
        scripts.createStoredProcedure(new CosmosStoredProcedureProperties("s", body));
        refused(409, () -> scripts.createStoredProcedure(new CosmosStoredProcedureProperties("s", body)));
        var procedure = scripts.getStoredProcedure("s");
        procedure.replace(procedure.read().getProperties().setBody("function () { return 2; }"));
        assertTrue(procedure.read().getProperties().getBody().contains("2"));
        assertEquals(1, scripts.readAllStoredProcedures().stream().count());
        procedure.delete();
        refused(404, procedure::read);

        scripts.createUserDefinedFunction(new CosmosUserDefinedFunctionProperties("u", body));
        assertEquals(body, scripts.getUserDefinedFunction("u").read().getProperties().getBody());
        var trigger = new CosmosTriggerProperties("t", body);
        trigger.setTriggerType(TriggerType.PRE).setTriggerOperation(TriggerOperation.ALL);
        scripts.createTrigger(trigger);
        assertEquals(TriggerType.PRE, scripts.getTrigger("t").read().getProperties().getTriggerType());
    }

    @Test
    void aProcedureAnswersAndLogs() {
        var response = run(newContainer(EVERYDAY),
                "function (name, n) { console.log('so far'); getContext().getResponse().setBody({greeting: 'Hello, ' + name, twice: 2 * n}); }", "Ada", 21);
        assertEquals(item("{'greeting':'Hello, Ada','twice':42}"), item(response.getResponseAsString()));
        assertEquals("so far", response.getScriptLog());
    }

    private static final String CREATE = """
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
            }""";

    @Test
    void aProcedureIsOneTransaction() {
        CosmosContainer c = newContainer(EVERYDAY);
        assertTrue(refused(400, () -> run(c, CREATE, 4, true)).getMessage().contains("taken back"));
        assertEquals(List.of(0), Cosmos.rows(c, "SELECT VALUE COUNT(1) FROM c", Integer.class));
        assertEquals("4", again(c, CREATE, 4, false).getResponseAsString());
        assertEquals(List.of(4), Cosmos.rows(c, "SELECT VALUE COUNT(1) FROM c", Integer.class));
    }

    @Test
    void triggers() {
        CosmosContainer c = newContainer(EVERYDAY);
        var stamp = new CosmosTriggerProperties("stamp",
                "function () { const r = getContext().getRequest(); const i = r.getBody(); i.stamped = true; r.setBody(i); }");
        c.getScripts().createTrigger(stamp.setTriggerType(TriggerType.PRE).setTriggerOperation(TriggerOperation.CREATE));
        var no = new CosmosTriggerProperties("no", "function () { throw new Error('no'); }");
        c.getScripts().createTrigger(no.setTriggerType(TriggerType.POST).setTriggerOperation(TriggerOperation.ALL));
        var stamped = c.createItem(item("{'id':'1','pk':'p'}"), P, new CosmosItemRequestOptions().setPreTriggerInclude(List.of("stamp")));
        assertTrue(((JsonNode) stamped.getItem()).get("stamped").asBoolean());
        assertFalse(c.createItem(item("{'id':'2','pk':'p'}")).getItem().has("stamped"));
        refused(400, () -> c.createItem(item("{'id':'3','pk':'p'}"), P, new CosmosItemRequestOptions().setPostTriggerInclude(List.of("no"))));
        refused(404, () -> c.readItem("3", P, JsonNode.class));
    }
}
