// Package internal tests what must be true of the whole tree: which package may
// import which, and habits that the compiler does not check.
package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/mayflydb/mayfly"

// table lists every package and the packages that it may import, lower packages first.
// A package sees only packages above it on this list. A folder that is missing here fails the test.
var table = []struct{ pkgs, mayImport string }{
	{"clock fault doc storytest", ""},
	{"budget", "clock fault"},
	{"expiry", "doc fault"},
	{"access", "doc expiry"},
	{"hint", "doc expiry"},
	{"kv", ""},
	{"kv/local", "kv fault"},
	{"kv/kvtest kv/memory", "kv fault kv/local"},
	{"kv/pebble kv/tikv", "clock kv fault kv/local"},
	{"keys", "doc"},
	{"lease", "clock fault kv keys"},
	{"audit", ""},
	{"keyring", "fault"},
	{"trace", "fault"},
	{"slow", "clock"},
	{"catalog", "clock audit doc fault expiry kv keys"},
	{"store", "lease trace budget doc fault expiry access kv keys catalog"},
	{"foresight", "doc fault expiry access catalog store"},
	{"reaper", "clock fault store trace"},
	{"cosmos/binaryjson", "doc"},
	{"cosmos/sql/syntax", "fault"},
	{"cosmos/pattern", "fault"},
	{"cosmos/sql/function", "doc fault cosmos/pattern"},
	{"cosmos/sql/plan", "doc fault access cosmos/sql/syntax cosmos/sql/function"},
	{"cosmos/sql/exec", "doc fault access cosmos/sql/syntax cosmos/sql/function cosmos/sql/plan"},
	{"cosmos/script", "doc fault cosmos/pattern"},
	{"cosmos/rest", "slow clock budget doc fault expiry hint access catalog store cosmos/binaryjson cosmos/sql/syntax cosmos/sql/plan cosmos/sql/exec cosmos/script audit keyring trace"},
	{"transfer", "clock doc"},
	{"mongo/code mongo/wire", "doc"},
	{"mongo/work", "doc"},
	{"mongo/work/worktest", "clock doc mongo/code mongo/work"},
	{"mongo/pattern", "mongo/code mongo/work"},
	{"mongo/expression", "doc mongo/code mongo/work mongo/pattern"},
	{"mongo/filter", "doc mongo/code mongo/work mongo/pattern mongo/expression"},
	{"mongo/update", "doc mongo/code mongo/work mongo/expression mongo/filter"},
	{"mongo/pipeline", "doc mongo/code mongo/work mongo/expression mongo/filter"},
	{"mongo/plan", "doc access mongo/code mongo/filter"},
	{"mongo/account", "keyring doc fault catalog mongo/code"},
	{"mongo/session", "clock budget doc fault expiry hint access catalog store mongo/code mongo/work mongo/account mongo/expression mongo/plan"},
	{"mongo/call", "clock doc fault mongo/code mongo/account mongo/wire mongo/expression mongo/session"},
	{"mongo/query", "doc fault expiry access catalog mongo/code mongo/account mongo/work mongo/expression mongo/filter mongo/pipeline mongo/plan mongo/session mongo/call"},
	{"mongo/write", "budget doc fault expiry hint access catalog store mongo/code mongo/expression mongo/filter mongo/update mongo/pipeline mongo/plan mongo/session mongo/call mongo/query"},
	{"mongo/schema", "audit doc fault expiry hint access catalog store mongo/code mongo/expression mongo/filter mongo/pipeline mongo/session mongo/call mongo/query mongo/write"},
	{"mongo/stream", "clock budget doc fault access catalog store mongo/code mongo/update mongo/pipeline mongo/session mongo/write"},
	{"mongo/explain", "doc mongo/code mongo/call mongo/expression mongo/filter mongo/session mongo/query mongo/write"},
	{"mongo/monitor", "slow trace access catalog clock doc expiry store mongo/account mongo/call mongo/code mongo/plan mongo/pipeline mongo/query mongo/schema mongo/session"},
	{"mongo/parameter", "audit doc expiry mongo/account mongo/call mongo/code mongo/expression mongo/session"},
	{"mongo/failpoint", "clock doc mongo/call mongo/code mongo/session"},
	{"mongo/command", "slow audit keyring trace clock budget doc fault hint access catalog store mongo/code mongo/account mongo/work mongo/wire mongo/filter mongo/update mongo/pipeline mongo/plan mongo/session mongo/call mongo/query mongo/write mongo/schema mongo/stream mongo/explain mongo/monitor mongo/parameter mongo/failpoint"},
	{"bulk", "budget doc fault expiry access catalog store mongo/filter mongo/update transfer"},
	{"backup", "fault"},
	{"http1", "clock"},
	{"socket", "clock"},
	{"admin", "slow catalog clock expiry fault doc store foresight"},
	{"node", "http1 socket slow transfer bulk clock budget doc fault hint kv catalog store reaper cosmos/rest mongo/filter mongo/command admin audit keyring trace backup foresight"},
	{"metrics", "node"},
	{"explorer", ""},
	{"otlp", "fault trace"},
	{"embedded", "kv node"},
	{".", "audit embedded node clock fault kv/memory kv"}, // package mayfly
	{"disk", ". embedded node kv kv/pebble"},
	{"remote terminal", "clock"},
	{"literal", ""},
	{"bench", "clock"},
	{"copying", "clock transfer"},
	{"cmd/mayfly", "node metrics explorer clock fault kv kv/memory kv/pebble kv/tikv remote terminal literal bench copying transfer otlp backup"},
	{"mayflytest", "."},
}

// forTests lists what test files of every package may import in addition: real engines
// and clocks instead of mocks, and a complete mayfly.
var forTests = strings.Fields("keyring node clock fault doc expiry access kv kv/memory kv/pebble kv/kvtest catalog store reaper storytest mongo/expression mongo/work mongo/work/worktest . disk mayflytest")

// clients lists modules that only some packages may import, except for tests: an
// engine is the only importer of its library.
var clients = map[string]string{
	"github.com/cockroachdb/pebble": "kv/pebble kv/kvtest", // the suite crashes on Pebble's file system
	"github.com/tidwall/btree":      "kv/memory",
	"github.com/tikv/":              "kv/tikv",
	"github.com/pingcap/":           "kv/tikv",
	"go.etcd.io/":                   "kv/tikv",
	"go.uber.org/":                  "kv/tikv",
	"google.golang.org/grpc":        "kv/tikv",
	"github.com/spf13/":             "cmd/mayfly",
	"github.com/KimMachineGun/":     "cmd/mayfly",
	"github.com/dlclark/regexp2":    "cosmos/pattern cosmos/sql/function cosmos/script mongo/pattern", // goja compiles patterns with it
	"github.com/dop251/goja":        "cosmos/script literal",
	"github.com/klauspost/":         "mongo/wire",
	"github.com/xdg-go/":            "mongo/account",
	"github.com/prometheus/":        "metrics",
	"go.opentelemetry.io/":          "otlp",
	"google.golang.org/protobuf":    "otlp",
	"github.com/anishathalye/":      "",
	"github.com/kljensen/":          "cosmos/sql/function",
	"github.com/getkin/":            "",
	"github.com/jedib0t/go-pretty":  "terminal",
	"github.com/schollz/":           "terminal",
	"golang.org/x/term":             "terminal",
	"github.com/Azure/":             "bench copying",
	"github.com/HdrHistogram/":      "bench",
}

// A source is one Go file of the tree.
type source struct {
	path string // from the root of the module
	pkg  string // its folder, without internal/
	file *ast.File
	set  *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// at is where in the tree a position is.
func (s source) at(p token.Pos) string {
	return s.path + ":" + strings.TrimPrefix(s.set.Position(p).String(), s.set.File(p).Name()+":")
}

// sources parses the whole module itself, rather than asking the go command,
// so that the test cache notices each change.
func sources(t *testing.T) []source {
	t.Helper()
	found, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 20 {
		t.Fatalf("%d files: this is not the whole tree", len(found))
	}
	return found
}

var parsed = sync.OnceValues(func() (found []source, err error) {
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch n := d.Name(); n {
			case "..":
				return nil
			case "testdata", "node_modules", "conformance", "release":
				return fs.SkipDir
			default:
				if strings.HasPrefix(n, ".") {
					return fs.SkipDir
				}
				return nil
			}
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		s := source{set: token.NewFileSet()}
		s.path = strings.TrimPrefix(filepath.ToSlash(name), "../")
		s.pkg = strings.TrimPrefix(path.Dir(s.path), "internal/")
		s.file, err = parser.ParseFile(s.set, name, nil, parser.ParseComments)
		found = append(found, s)
		return err
	})
	return found, err
})

// imports yields the paths that a file imports.
func (s source) imports(yield func(string, token.Pos) bool) {
	for _, i := range s.file.Imports {
		if !yield(strings.Trim(i.Path.Value, `"`), i.Pos()) {
			return
		}
	}
}

// pkgOf is the folder of an imported package of this module, as the table names it.
func pkgOf(imported string) (pkg string, ok bool) {
	if imported == module {
		return ".", true
	}
	rest, ok := strings.CutPrefix(imported, module+"/")
	return strings.TrimPrefix(rest, "internal/"), ok
}

func TestLayout(t *testing.T) {
	allowed := map[string][]string{}
	for _, row := range table {
		for pkg := range strings.FieldsSeq(row.pkgs) {
			allowed[pkg] = strings.Fields(row.mayImport)
		}
	}
	for _, s := range sources(t) {
		if s.pkg == "internal" {
			continue // this package
		}
		may, known := allowed[s.pkg]
		if !known {
			t.Errorf("%s: the table has no package %q", s.path, s.pkg)
			continue
		}
		for imported, pos := range s.imports {
			pkg, own := pkgOf(imported)
			if !own || pkg == s.pkg || slices.Contains(may, pkg) || s.isTest() && slices.Contains(forTests, pkg) {
				continue
			}
			t.Errorf("%s: %s may not import %s", s.at(pos), s.pkg, pkg)
		}
	}
}

// A permission that no package of its row uses goes.
func TestPermissionsAreUsed(t *testing.T) {
	used := map[string]map[string]bool{} // by the importing package
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for imported := range s.imports {
			if pkg, own := pkgOf(imported); own {
				if used[s.pkg] == nil {
					used[s.pkg] = map[string]bool{}
				}
				used[s.pkg][pkg] = true
			}
		}
	}
	for _, row := range table {
		pkgs := strings.Fields(row.pkgs)
		for _, may := range strings.Fields(row.mayImport) {
			if !slices.ContainsFunc(pkgs, func(pkg string) bool { return used[pkg][may] }) {
				t.Errorf("%s may import %s, and does not", row.pkgs, may)
			}
		}
	}
}

// light lists the modules that package mayflytest imports by way of our own packages. Each of them becomes an
// indirect dependency of every program that is tested with mayfly: docs/decisions/0015 says why it is needed.
var light = strings.Fields("github.com/dlclark/regexp2/v2 github.com/dop251/goja github.com/klauspost/compress github.com/kljensen/snowball github.com/tidwall/btree " +
	"github.com/xdg-go/scram github.com/xdg-go/stringprep go.mongodb.org/mongo-driver/v2 golang.org/x/text")

func TestMayflytestIsLight(t *testing.T) {
	outside, seen := map[string]bool{}, map[string]bool{}
	all := sources(t)
	var visit func(pkg string)
	visit = func(pkg string) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		for _, s := range all {
			if s.pkg != pkg || s.isTest() {
				continue
			}
			for imported := range s.imports {
				if next, own := pkgOf(imported); own {
					visit(next)
				} else if host, _, _ := strings.Cut(imported, "/"); strings.Contains(host, ".") {
					outside[imported] = true
				}
			}
		}
	}
	visit("mayflytest")
	if len(seen) < 20 {
		t.Fatalf("it imports only %d of our packages", len(seen))
	}
	for imported := range outside {
		if !slices.ContainsFunc(light, func(m string) bool { return strings.HasPrefix(imported+"/", m+"/") }) {
			t.Errorf("mayflytest imports %s", imported)
		}
	}
}

func TestTableIsInOrder(t *testing.T) {
	var above []string
	for _, row := range table {
		for pkg := range strings.FieldsSeq(row.mayImport) {
			if !slices.Contains(above, pkg) {
				t.Errorf("%s may import %s, which is not above it", row.pkgs, pkg)
			}
		}
		above = append(above, strings.Fields(row.pkgs)...)
	}
}

func TestClientLibraries(t *testing.T) {
	for _, s := range sources(t) {
		for imported, pos := range s.imports {
			for prefix, pkgs := range clients {
				if strings.HasPrefix(imported, prefix) && !slices.Contains(strings.Fields(pkgs), s.pkg) && !s.isTest() {
					t.Errorf("%s: only %q may import %s", s.at(pos), pkgs, imported)
				}
			}
		}
	}
}
