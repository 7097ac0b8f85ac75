package rest

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// The debug log shows requests, but never the ids or contents of items.
func TestLogKeepsItemsToItself(t *testing.T) {
	var log bytes.Buffer
	d, _ := withContainer(t, `,"defaultTtl":-1`, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	d.do("POST", documents, `{"id":"secret-id","pk":"a","ttl":"secret-ttl"}`, key, inA).want(400)
	d.do("POST", documents, `{"id":"secret-id","pk":"a"}`, key, inA).want(201)
	d.do("GET", documents+"/secret-id", "", key, inA).want(200)
	d.do("GET", documents+"/secret-id/secret-id", "", key, inA).want(400)
	d.do("PATCH", documents+"/secret-id", `{"condition":"from c where secret = 1","operations":[]}`, key,
		`["secret-key"]`).want(400)
	d.do("GET", "/dbs/d/colls/missing/docs", "").want(404)
	text := log.String()
	if strings.Contains(text, "secret") {
		t.Errorf("the log has content of items:\n%s", text)
	}
	for _, want := range []string{
		"method=GET path=/dbs/d/colls/c/docs/* status=200 duration=",
		"path=/dbs/d/colls/c/docs status=400", `error=invalid substatus=0`, `error="owner not found" substatus=1003`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "error=<nil>") {
		t.Errorf("errors that are none:\n%s", text)
	}
}
