package command_test

import (
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// What shells and tools ask of the parameters of every server, and how wrong values are refused.
// mongodb/mongo: src/mongo/db/commands/parameters.cpp; FerretDB/FerretDB: integration/commands_administration_test.go
func TestParametersOfEveryServer(t *testing.T) {
	t.Parallel()
	d := newServer(t, alone)
	for _, c := range []struct {
		name, cmd, want string // a part of the answer, or the code and a part of the text
	}{
		{"quiet", `{"getParameter":1,"quiet":1,"whatever":1,"comment":"x"}`, `{"quiet": false`},
		{"quiet in detail", `{"getParameter":{"showDetails":true},"quiet":true}`, `{"quiet": {"value": false,"settableAtRuntime": true,"settableAtStartup": true}`},
		{"not in detail", `{"getParameter":{"showDetails":false},"quiet":true}`, `{"quiet": false`},
		{"set quiet", `{"setParameter":1,"quiet":true}`, `{"was": false`},
		{"quiet is set", `{"getParameter":1,"quiet":1}`, `{"quiet": true`},
		{"quiet, as MongoDB reads a string", `{"setParameter":1,"quiet":"no"}`, `{"was": true`},
		{"not quiet", `{"setParameter":1,"quiet":null}`, `{"was": true`},
		{"mechanisms", `{"getParameter":1,"authenticationMechanisms":1}`, `{"authenticationMechanisms": ["SCRAM-SHA-1","SCRAM-SHA-256"]`},
		{"mechanisms in detail", `{"getParameter":{"showDetails":1},"authenticationMechanisms":1}`, `"settableAtRuntime": false,"settableAtStartup": true}`},
		{"set mechanisms", `{"setParameter":1,"authenticationMechanisms":["SCRAM-SHA-1"]}`, `20 not allowed to change [authenticationMechanisms] at runtime`},
		{"all", `{"getParameter":{"allParameters":true}}`, `"quiet": false`},
		{"all of the start", `{"getParameter":{"allParameters":true,"setAt":"startup"}}`,
			`{"authenticationMechanisms"`},
		{"what cannot be set", `{"getParameter":{"setAt":"runtime"},"featureCompatibilityVersion":1}`, `72 no option found to get`},
		{"set when", `{"getParameter":{"setAt":"never"},"quiet":1}`, `2 Enumeration value 'never' for field 'getParameter.setAt' is not a valid value.`},
		{"an unknown option", `{"getParameter":{"x":1},"quiet":1}`,
			`40415 BSON field 'getParameter.x' is an unknown field.`},
		{"details of another type", `{"getParameter":{"showDetails":"yes"},"quiet":1}`, `14 BSON field 'getParameter.showDetails' is the wrong type 'string'`},
		{"nothing", `{"getParameter":1,"comment":"x"}`, `72 no option found to get`},

		{"a string", `{"setParameter":1,"ttlMonitorSleepSecs":"x"}`, `2 Failed validating ttlMonitorSleepSecs: Unable to coerce value to integral type`},
		{"no number", `{"setParameter":1,"ttlMonitorSleepSecs":{"$numberDouble":"NaN"}}`, `2 Failed validating ttlMonitorSleepSecs: Unable to coerce NaN/Inf to integral type`},
		{"too large", `{"setParameter":1,"ttlMonitorSleepSecs":2147483648}`, `2 Failed validating ttlMonitorSleepSecs: Out of bounds coercing to integral value`},
		{"twice", `{"setParameter":1,"quiet":true,"quiet":false}`, `72 attempted to set parameter [quiet] twice in the same setParameter command, once to value: [true], and once to value: [false]`},
		{"unknown", `{"setParameter":1,"whatever":1}`, `72 attempted to set unrecognized parameter [whatever]`},

		{"levels", `{"getParameter":1,"logComponentVerbosity":1}`, `{"logComponentVerbosity": {"verbosity": {"$numberInt":"0"},"accessControl": {"verbosity": {"$numberInt":"-1"}}`},
		{"set levels", `{"setParameter":1,"logComponentVerbosity":{"verbosity":1,"query":2,"storage":{"journal":{"verbosity":3}}}}`, `{"was": {"verbosity"`},
		{"the default", `{"getParameter":1,"logLevel":1}`, `{"logLevel": {"$numberInt":"1"}`},
		{"levels are set", `{"getParameter":1,"logComponentVerbosity":1}`,
			`"journal": {"verbosity": {"$numberInt":"3"}}`},
		{"set the default", `{"setParameter":1,"logLevel":0}`, `{"was": {"$numberInt":"1"}`},
		{"a negative default", `{"setParameter":1,"logLevel":-1}`, `2 Invalid value for logLevel: -1`},
		{"no levels", `{"setParameter":1,"logComponentVerbosity":"all"}`,
			`14 log component verbosity is not a BSON object`},
		{"another component", `{"setParameter":1,"logComponentVerbosity":{"NoSuchComponent":{"verbosity":2}}}`, `2 Invalid component name default.NoSuchComponent`},
		{"a level that is none", `{"setParameter":1,"logComponentVerbosity":{"query":"x"}}`, `2 Invalid type`},
		{"taken back", `{"setParameter":1,"logComponentVerbosity":{"query":{"verbosity":-1}}}`, `{"was"`},
		{"is taken back", `{"getParameter":1,"logComponentVerbosity":1}`, `"query": {"verbosity": {"$numberInt":"-1"}`},
	} {
		var cmd bson.D
		must(t, bson.UnmarshalExtJSON([]byte(c.cmd), false, &cmd))
		raw, err := d.Database("admin").RunCommand(t.Context(), cmd).Raw()
		got := raw.String()
		if err != nil {
			got = strconv.Itoa(int(numberOf(err))) + err.Error()[strings.Index(err.Error(), ") ")+1:]
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// mongosh asks for help with db.commandHelp(name); nothing is run then.
func TestHelp(t *testing.T) {
	t.Parallel()
	d := newServer(t, alone)
	for _, c := range []struct{ cmd, want string }{
		{"find", "help for: find Selects documents."},
		{"findandmodify", "help for: findAndModify Changes or deletes one document and returns it."},
		{"dropDatabase", "help for: dropDatabase "},
		{"insert", "help for: insert "},
	} {
		answer, err := d.run(bson.D{{Key: c.cmd, Value: 1}, {Key: "help", Value: true}})
		must(t, err)
		got, _ := answer["help"].(string)
		if !strings.HasPrefix(got, c.want) || answer["ok"] != 1.0 || len(answer) != 2 {
			t.Errorf("%s: %v", c.cmd, answer)
		}
	}
	_, err := d.run(bson.D{{Key: "find", Value: "c"}, {Key: "help", Value: false}})
	failsWith(t, "no help", err, 40415)
	_, err = d.run(bson.D{{Key: "whatever", Value: 1}, {Key: "help", Value: true}})
	failsWith(t, "no command", err, 59)
}

// How getLog and $collStats refuse what they are asked.
// The answers of MongoDB are recorded in
// FerretDB/FerretDB: integration/commands_diagnostic_test.go and integration/aggregate_collstats_test.go.
func TestDiagnosticTexts(t *testing.T) {
	t.Parallel()
	d, _ := stocked(t, alone)
	stats := func(c string, arg any) bson.D {
		return pairs("aggregate", c, "pipeline", bson.A{eq("$collStats", arg)}, "cursor", bson.D{})
	}
	part := func(name string, options any) bson.D { return eq(name, options) }
	for _, c := range []struct {
		db   string
		cmd  bson.D
		code int32
		text string
	}{
		{"admin", eq("getLog", nil), 40414, "BSON field 'getLog.getLog' is missing but a required field"},
		{"admin", eq("getLog", bson.A{}), 14, "BSON field 'getLog.getLog' is the wrong type 'array', expected type 'string'"},
		{"admin", eq("getLog", "whatever"), 96, "No log named 'whatever'"},
		{"test", stats("c", nil), 5447000, "$collStats must take a nested object but found: $collStats: null"},
		{"test", stats("c", part("storageStats", eq("scale", -1000))), 51024, "BSON field 'scale' value must be >= 1, actual value '-1000'"},
		{"test", stats("c", part("storageStats", eq("scale", "x"))), 14, "BSON field '$collStats.storageStats.scale' is the wrong type 'string', expected types '[long, int, decimal, double']"},
		{"test", stats("c", part("count", 1)), 14, "BSON field '$collStats.count' is the wrong type 'int', expected type 'object'"},
		{"test", stats("c", part("whatever", bson.D{})),
			40415, "BSON field '$collStats.whatever' is an unknown field."},
		{"test", stats("none", part("storageStats", bson.D{})), 26, "PlanExecutor error during aggregation :: caused by :: Unable to retrieve storageStats in $collStats stage :: caused by :: Collection [test.none] not found."},
		{"test", stats("none", part("count", bson.D{})), 26, "Unable to retrieve count in $collStats stage :: caused by :: Collection [test.none] not found."},
		{"test", stats("v", part("storageStats", bson.D{})), 166, "test.v is a view, not a collection"},
		{"test", stats("none", part("latencyStats", bson.D{})), 0, ""},
		{"test", stats("none", bson.D{}), 0, ""},
		{"test", document(t, `{collStats: 'c', scale: 'x'}`),
			14, "BSON field 'collStats.scale' is the wrong type 'string'"},
		{"test", document(t, `{dbStats: 1, scale: 'x'}`), 14, "BSON field 'dbStats.scale' is the wrong type 'string'"},
	} {
		err := d.Database(c.db).RunCommand(t.Context(), c.cmd).Err()
		if numberOf(err) != c.code || c.code != 0 && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v, want code %d, %q", c.cmd, err, c.code, c.text)
		}
	}
	var answer bson.Raw
	scaled := stats("c", document(t, `{count: {}, storageStats: {scale: 42.42}}`))
	must(t, d.Database("test").RunCommand(t.Context(), scaled).Decode(&answer))
	row := answer.Lookup("cursor", "firstBatch", "0").Document()
	elements, err := row.Elements()
	must(t, err)
	var names []string
	for _, e := range elements {
		names = append(names, e.Key())
	}
	same(t, names, []string{"ns", "host", "localTime", "storageStats", "count"})
	same(t, row.Lookup("storageStats", "scaleFactor").Int32(), 42)
	must(t, d.Database("admin").RunCommand(t.Context(), eq("serverStatus", 1)).Decode(&answer))
	same(t, answer.Lookup("catalogStats").String(), `{"collections": {"$numberInt":"1"},"capped": {"$numberInt":"0"},"clustered": {"$numberInt":"0"},"timeseries": {"$numberInt":"0"},`+
		`"views": {"$numberInt":"1"},"internalCollections": {"$numberInt":"0"},"internalViews": {"$numberInt":"0"}}`)
}
