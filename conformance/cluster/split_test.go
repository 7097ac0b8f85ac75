package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/load"
	"github.com/mayflydb/mayfly/conformance/cluster/stand"
)

// Ranges are split through one of two processes while both write, follow the
// changes and look. The process that splits is killed in the middle of it, and
// the other one finishes. Nothing is lost, no feed has a gap or gives something
// twice, and no process shows an expired document.
func TestSplitsUnderLoad(t *testing.T) {
	s := startSharing(t, 2)
	ctx := within(t, 3*time.Minute)
	all := loads{}
	for ranges, name := range map[int]string{1: "one range", 4: "four ranges"} {
		ways := s.overNoSQL(ctx, t, ranges)
		l, err := load.Start(ways, ways)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = l
	}
	all.await(t, 100, 1)
	for _, c := range []struct {
		container, id string
		killed        bool
	}{{"documents-1", "0", false}, {"documents-4", "2", true}} {
		all.silence()
		path := "/databases/load/containers/" + c.container + "/ranges"
		beginSplit(ctx, t, s.processes[0], path+"/"+c.id)
		if c.killed {
			kill(t, 0, s.processes[0].Process)
		}
		awaitSplit(ctx, t, s.processes[1], path, c.id)
		all.await(t, 30, 1)
		t.Logf("split %s of %s, process killed: %v: longest silences %v", c.id, c.container, c.killed, all.silence())
	}
	all.stop(t.Context(), t)
}

// adminBase is the path of the admin API.
const adminBase = "/_mayfly/v1"

func beginSplit(ctx context.Context, t *testing.T, m *stand.Mayfly, path string) {
	t.Helper()
	response, err := adminDo(ctx, m, http.MethodPost, path+"/split")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		t.Fatalf("split %s: %s", path, response.Status)
	}
}

// awaitSplit returns when a range is gone, and two are there instead.
func awaitSplit(ctx context.Context, t *testing.T, m *stand.Mayfly, path, id string) {
	t.Helper()
	for {
		var list struct {
			Ranges []struct {
				ID      string
				Parents []string
			}
			Split *struct{}
		}
		response, err := adminDo(ctx, m, http.MethodGet, path)
		if err == nil {
			err = json.NewDecoder(response.Body).Decode(&list)
			response.Body.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		children := 0
		for _, r := range list.Ranges {
			if r.ID == id && list.Split == nil {
				t.Fatalf("range %s is there, and is not being split", id)
			}
			if len(r.Parents) > 0 && r.Parents[len(r.Parents)-1] == id {
				children++
			}
		}
		if children == 2 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func adminDo(ctx context.Context, m *stand.Mayfly, method, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, fmt.Sprint("http://", m.Admin, adminBase, path),
		strings.NewReader(""))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(r)
}
