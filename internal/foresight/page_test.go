package foresight_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/foresight"
)

// TestPage holds the examples of docs/foresight.md against real answers.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/foresight.md")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, noSQL(90*86400))
	w.now -= 80 * 86400
	for i := range 40 {
		w.item("p", fmt.Sprint("s", i), bson.E{Key: "user", Value: i})
		w.now += 2 * 86400
	}
	w.item("p", "admin", bson.E{Key: "ttl", Value: -1})
	preview, err := w.f.Preview(ctx, w.c, w.now, foresight.Change{Default: pointer(expiry.TTL(30 * 86400))}, 0)
	w.ok(err)
	for i := range preview.Windows {
		// to keep it short
		preview.Windows[i].Samples = preview.Windows[i].Samples[:min(1, len(preview.Windows[i].Samples))]
	}
	preview.Windows = preview.Windows[:2]
	forecast, err := w.f.Forecast(ctx, foresight.Scope{Database: "d", Container: "c"}, w.now, foresight.ByMonth, 2, 0)
	w.ok(err)
	explanation, err := w.f.Explain(ctx, w.c, w.now, itemKey("p", "admin"))
	w.ok(err)
	expiring, err := w.f.Expiring(ctx, w.c, w.now, foresight.Span{Until: 1778000000, Max: 2}, 0)
	w.ok(err)
	for name, answer := range map[string]any{
		"preview": preview, "forecast": forecast, "expiring": expiring, "explain": explanation,
	} {
		text, err := json.MarshalIndent(answer, "", "  ")
		w.ok(err)
		if !strings.Contains(string(page), "```json\n"+string(text)+"\n```") {
			t.Errorf("the page does not have this answer of %s:\n%s", name, text)
		}
	}
}
