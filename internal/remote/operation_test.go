package remote

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

const (
	running = `{"id":"x","kind":"check","state":"running","done":%d,"total":10}`
	done    = `{"id":"x","kind":"check","state":"done","done":10,"total":10,"ended":"2026-03-01T12:00:00Z","result":{"n":1}}`
	failed  = `{"id":"x","kind":"check","state":"failed","ended":"2026-03-01T12:00:00Z","error":{"status":404,"detail":"it is gone"}}`
)

// operating serves an operation, whose stream of events has these texts, one for each request.
func operating(t *testing.T, streams ...string) (c *Client, cancelled *bool) {
	t.Helper()
	cancelled = new(bool)
	return answering(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete:
			*cancelled = true
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(w, running, 0)
		case strings.HasSuffix(r.URL.Path, "/events"):
			if len(streams) == 0 {
				<-r.Context().Done()
				return
			}
			for line := range strings.SplitSeq(streams[0], ";") {
				fmt.Fprintf(w, "event: operation\ndata: %s\n\n", line)
			}
			streams = streams[1:]
		default:
			fmt.Fprintf(w, running, 5)
		}
	}), cancelled
}

func TestRun(t *testing.T) {
	at := func(n int) string { return fmt.Sprintf(running, n) }
	for _, c := range []struct {
		name    string
		streams []string
		seen    string
		err     string
	}{
		{"succeeds", []string{at(3) + ";" + done}, "[0 3 10]", ""},
		{"stream breaks off", []string{at(3), at(7) + ";" + done}, "[0 3 5 7 10]", ""},
		{"fails", []string{failed}, "[0 0]", "it is gone (404 Not Found)"},
	} {
		client, cancelled := operating(t, c.streams...)
		var seen []int64
		o, err := client.Run(t.Context(), http.MethodPost, Path("check"), nil, func(o Operation) {
			seen = append(seen, o.Done)
		})
		if fmt.Sprint(seen) != c.seen || fmt.Sprint(err) != fmt.Sprint(orNil(c.err)) || *cancelled {
			t.Errorf("%s: saw %v, error %v, want %s, %q", c.name, seen, err, c.seen, c.err)
		}
		if err == nil && string(o.Result) != `{"n":1}` {
			t.Errorf("%s: result %s", c.name, o.Result)
		}
	}
}

func orNil(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}

func TestGivingUpCancels(t *testing.T) {
	client, cancelled := operating(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := client.Run(ctx, http.MethodPost, Path("check"), nil, func(Operation) { cancel() })
	if !errors.Is(err, context.Canceled) || !*cancelled {
		t.Errorf("error %v, cancelled at the server: %v", err, *cancelled)
	}
}

func TestAnAnswerThatIsNoOperation(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"paths":[]}`) })
	if _, err := c.Run(t.Context(), http.MethodPost, "/x", nil, nil); err == nil ||
		!strings.Contains(err.Error(), "no operation") {
		t.Errorf("%v", err)
	}
}
