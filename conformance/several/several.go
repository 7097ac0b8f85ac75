// Package several tells tests whether TESTED_BIN is several mayfly processes
// that share a cluster, as cluster/cmd/several starts them, and skips what they
// do not have. The environment:
//
//	TESTED_SEVERAL    not empty: there are several
//	TESTED_AUTHORITY  path of the certificate authority of the API for NoSQL
//	TESTED_MONGO      seeds: clients of MongoDB know the address of each process; else, that of a balancer
package several

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
)

// On says that there are several.
var On = os.Getenv("TESTED_SEVERAL") != ""

// Seeds says that clients of MongoDB know the address of each of two processes.
var Seeds = On && os.Getenv("TESTED_MONGO") == "seeds"

// Authority is the path of the certificate authority.
var Authority = os.Getenv("TESTED_AUTHORITY")

//go:embed capabilities.json
var capabilitiesJSON []byte

// Lack skips a test that needs a capability which several processes lack, and
// prints a line that says why. capabilities.json lists them.
func Lack(t testing.TB, capability string) {
	t.Helper()
	var why map[string]string
	if err := json.Unmarshal(capabilitiesJSON, &why); err != nil {
		t.Fatal(err)
	}
	if why[capability] == "" {
		t.Fatalf("capabilities.json has no %q", capability)
	}
	if On {
		fmt.Printf("skipped %s: %s: %s\n", t.Name(), capability, why[capability])
		t.SkipNow()
	}
}

// LackFlags skips a test that starts mayfly with flags which several processes
// refuse.
func LackFlags(t testing.TB, flags []string) {
	t.Helper()
	for _, f := range flags {
		switch {
		case strings.HasPrefix(f, "--clock"):
			Lack(t, "virtual clock")
		case strings.HasPrefix(f, "--mongo-replset"):
			Lack(t, "replica set")
		}
	}
}

// Query is the part of a connection string behind the question mark, without
// what several processes refuse, and with what they need.
func Query(query string) string {
	if !On {
		return query
	}
	var kept []string
	for _, option := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(option, "=")
		if name, err := url.QueryUnescape(name); option != "" && err == nil &&
			!strings.EqualFold(name, "replicaSet") && !strings.EqualFold(name, "directConnection") {
			kept = append(kept, option)
		}
	}
	if !Seeds {
		kept = append(kept, "loadBalanced=true")
	}
	return strings.Join(kept, "&")
}
