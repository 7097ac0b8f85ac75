package stand

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"
)

// A Mayfly is one mayfly process and where it answers.
type Mayfly struct {
	*Process
	NoSQL, Mongo, Admin string // host:port
}

// NewMayfly starts a mayfly that ends with the test: TESTED_BIN, or one that
// is built here. The flags say where its data is.
func NewMayfly(t testing.TB, name string, flags ...string) *Mayfly {
	t.Helper()
	program := os.Getenv("TESTED_BIN")
	if program == "" {
		program = Build(t, "../../cmd/mayfly")
	}
	m := &Mayfly{NoSQL: Address(t), Mongo: Address(t), Admin: Address(t)}
	args := append([]string{"--nosql", m.NoSQL, "--mongo", m.Mongo, "--admin", m.Admin}, flags...)
	m.Process = Start(t, name, program, m.Readyz, args...)
	return m
}

// NewMayflies starts processes that share the data of a cluster.
func NewMayflies(t testing.TB, c *Cluster, n int, flags ...string) []*Mayfly {
	t.Helper()
	shared := []string{"--engine", "tikv://" + c.Address, "--allow-well-known-key", "--nosql-tls", "off"}
	flags = append(shared, flags...)
	var all []*Mayfly
	for i := range n {
		all = append(all, NewMayfly(t, fmt.Sprintf("mayfly %d", i), flags...))
	}
	return all
}

// Readyz is nil if the process says that it is ready, within a second.
func (m *Mayfly) Readyz(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.Admin+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return NotReady{resp.Status}
	}
	return nil
}

// NotReady is an answer of /readyz that is not 200.
type NotReady struct{ Status string }

func (n NotReady) Error() string { return "/readyz: " + n.Status }
