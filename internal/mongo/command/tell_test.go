package command_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/store"
)

// extJSON reads a document in relaxed extended JSON.
func extJSON(t testing.TB, text string) (d bson.D) {
	t.Helper()
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// ofAdmin are the commands that tell sends to the database admin.
var ofAdmin = map[string]bool{"setParameter": true, "getParameter": true, "serverStatus": true}

// tell sends a command, in extended JSON, and gives its answer as text: the members without ok,
// int64 with an L behind it; an error as its code and message.
func (d *testServer) tell(cmd string) string {
	d.t.Helper()
	c := extJSON(d.t, cmd)
	db := "test"
	if ofAdmin[c[0].Key] {
		db = "admin"
	}
	var answer bson.D
	err := d.Database(db).RunCommand(d.t.Context(), c).Decode(&answer)
	var failed mongo.CommandError
	if errors.As(err, &failed) {
		return fmt.Sprintf("%d %s: %s", failed.Code, failed.Name, failed.Message)
	}
	var refused mongo.WriteException
	if errors.As(err, &refused) {
		return fmt.Sprintf("writeErrors: %d: %s", refused.WriteErrors[0].Code, refused.WriteErrors[0].Message)
	}
	must(d.t, err)
	var kept bson.D
	for _, e := range answer {
		if e.Key != "ok" {
			kept = append(kept, e)
		}
	}
	return asText(kept)
}

// expect compares the answer with want. After ~ stands what it contains.
func (d *testServer) expect(cmd, want string) {
	d.t.Helper()
	got := d.tell(cmd)
	if part, ok := strings.CutPrefix(want, "~"); ok && strings.Contains(got, part) || got == want {
		return
	}
	d.t.Errorf("%s\n got %s\nwant %s", cmd, got, want)
}

// asText is a value as text that tells its type.
func asText(v any) string {
	switch v := v.(type) {
	case bson.D:
		var parts []string
		for _, e := range v {
			parts = append(parts, e.Key+": "+asText(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case bson.A:
		var parts []string
		for _, e := range v {
			parts = append(parts, asText(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return fmt.Sprintf("%q", v)
	case int64:
		return fmt.Sprintf("%dL", v)
	case float64:
		return fmt.Sprintf("%.1f", v)
	case bson.DateTime:
		return v.Time().UTC().Format("date 05.000")
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// ids finds the documents of a collection.
func (d *testServer) ids(collection string) string {
	d.t.Helper()
	cursor, err := d.Database("test").Collection(collection).Find(d.t.Context(), bson.D{})
	must(d.t, err)
	var list []bson.D
	must(d.t, cursor.All(d.t.Context(), &list))
	var parts []string
	for _, x := range list {
		parts = append(parts, fmt.Sprint(x[0].Value))
	}
	return strings.Join(parts, " ")
}

// alive compares the documents that a collection has with want.
func (d *testServer) alive(collection, want string) {
	d.t.Helper()
	if got := d.ids(collection); got != want {
		d.t.Errorf("%s has %q at %s, want %q", collection, got, d.clock.Now().Format("15:04:05"), want)
	}
}

// restart opens catalog, store and server anew on the same engine.
func (d *testServer) restart() {
	d.t.Helper()
	must(d.t, d.Disconnect(d.t.Context()))
	must(d.t, d.server.Close(d.t.Context()))
	must(d.t, d.store.Close())
	var err error
	d.catalog, err = catalog.Open(d.t.Context(), d.engine, compile)
	must(d.t, err)
	d.store, err = store.Open(d.t.Context(), d.engine, d.catalog)
	must(d.t, err)
	d.options.Catalog, d.options.Store = d.catalog, d.store
	d.server = command.New(d.options)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(d.t, err)
	d.address = l.Addr().String()
	server := d.server
	go func() { _ = server.Serve(l) }() // until the end of the test closes it
	d.Client = d.connect("")
}
