package account

import (
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// mongodb/mongo: src/mongo/db/auth/builtin_roles.yml has what the roles of MongoDB allow. TestRoles of package command
// says it by command.
func TestRights(t *testing.T) {
	for _, c := range []struct {
		role, of string
		needs    Action
		on       string
		want     bool
	}{
		{"read", "shop", Read, "shop", true},
		{"read", "shop", Read | List, "shop", true},
		{"read", "shop", Read | Write, "shop", false},
		{"read", "shop", Read, "other", false},
		{"read", "shop", Read, "", false},
		{"read", "shop", Any, "other", true},
		{"readAnyDatabase", "admin", Read, "other", true},
		{"readAnyDatabase", "admin", Read, "", true},
		{"readAnyDatabase", "shop", Read, "shop", false}, // only admin has this role
		{"clusterMonitor", "admin", Monitor, "admin", true},
		{"clusterMonitor", "admin", Administer, "", false},
		{"root", "admin", All, "", true},
		{"root", "admin", 0, "shop", true}, // 0 is everything
		{"dbOwner", "shop", 0, "shop", false},
		{"king", "admin", Read, "shop", false},
	} {
		if got := RightsOf([]Role{{c.role, c.of}}).Allow(c.needs, c.on); got != c.want {
			t.Errorf("%s of %s: action %b on %q is %v, want %v", c.role, c.of, c.needs, c.on, got, c.want)
		}
	}
	// A role of one database allows nothing about the server, whatever it has.
	if (Rights{{actions: All, database: "admin"}}).Allow(Monitor, "admin") {
		t.Error("a role of one database allows something about the server")
	}
}

func TestPrivileges(t *testing.T) {
	got := RightsOf([]Role{{"read", "shop"}, {"clusterMonitor", "admin"}}).Privileges().String()
	for _, want := range []string{
		`{"resource": {"db": "shop","collection": ""},"actions": ` +
			`["changeStream","collStats","dbHash","dbStats","find","killCursors","listCollections","listIndexes"]}`,
		`{"resource": {"db": "","collection": ""},"actions": ` +
			`["collStats","dbHash","dbStats","listCollections","listIndexes"]}`,
		`{"resource": {"cluster": true},"actions": ["getCmdLineOpts",`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks\n%s", got, want)
		}
	}
	if got := (Rights{}).Privileges().String(); got != "[]" {
		t.Errorf("no rights are %s", got)
	}
}

func TestReadRoles(t *testing.T) {
	for _, c := range []struct {
		name, list string
		want       string // roles, or the name of an error
	}{
		{"names and documents", `{"l": ["read", {"role": "root", "db": "admin"}, {"role": "read", "db": "shop"}]}`,
			"read@shop root@admin"},
		{"an unknown role", `{"l": ["king"]}`, "RoleNotFound"},
		{"a role of admin elsewhere", `{"l": ["root"]}`, "RoleNotFound"},
		{"no database", `{"l": [{"role": "read"}]}`, "BadValue"},
		{"a number", `{"l": [1]}`, "BadValue"},
		{"too many", `{"l": [` + strings.Repeat(`"read",`, maxRoles) + `"read"]}`, "BadValue"},
	} {
		var list []doc.Value
		for v := range doc.Elements(doc.Lookup(object(t, c.list), "l")) {
			list = append(list, v)
		}
		roles, err := ReadRoles(list, "shop")
		var names []string
		for _, x := range roles {
			names = append(names, x.Name+"@"+x.Database)
		}
		if e, ok := err.(*code.Error); ok {
			names = []string{e.Code.Name()}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
