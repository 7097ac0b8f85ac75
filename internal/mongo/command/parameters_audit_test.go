package command_test

import (
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/catalog"
)

func TestSetParameterIsAudited(t *testing.T) {
	d := newServer(t, withAuth)
	d.catalog.SetClock(d.clock.Now)
	root := d.login("mayfly:"+accountKey, "").Database("admin")
	must(t, send(t, root, `{setParameter: 1, quiet: 'yes', transactionLifetimeLimitSeconds: 30}`))
	must(t, send(t, root, `{setParameter: 1, quiet: true}`)) // as it is
	must(t, send(t, root, `{setParameter: 1, logComponentVerbosity: {query: 2}}`))
	must(t, send(t, root, `{setParameter: 1, ttlMonitorEnabled: false}`))
	for _, wrong := range []string{`{setParameter: 1, quiet: false, noSuch: 1}`, `{setParameter: 1, logLevel: 'x'}`} {
		if send(t, root, wrong) == nil {
			t.Errorf("%s succeeds", wrong)
		}
	}
	want := []string{
		"set parameter quiet [{value false true}]",
		"set parameter transactionLifetimeLimitSeconds [{value 60 30}]",
		"set parameter logComponentVerbosity [{value <nil> { query: 2 }}]",
		"set lifetime rules of dates [{inForce true false}]",
	}
	var got []string
	for e, err := range d.catalog.Events(t.Context(), catalog.Stretch{}) {
		must(t, err)
		if e.API != audit.MongoDB || e.Principal == "" || e.Address == "" {
			t.Errorf("who is %+v", e.Who)
		}
		got = append(got, fmt.Sprintf("%s %s %s %v", e.Action, e.Kind, e.Target, e.Changes))
	}
	same(t, got, want)
}
