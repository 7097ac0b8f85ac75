package internal

import (
	"fmt"
	"go/format"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A page is one Markdown file of the tree.
type page struct {
	path string // from the root of the module
	text string
}

// pages reads every Markdown file of the project.
func pages(t *testing.T) []page {
	t.Helper()
	found, err := readPages()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var readPages = sync.OnceValues(func() (found []page, err error) {
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n := d.Name(); d.IsDir() &&
			(n == "testdata" || n == "node_modules" || n == "mayfly-data" || n != ".." && strings.HasPrefix(n, ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		text, err := os.ReadFile(name)
		found = append(found, page{strings.TrimPrefix(filepath.ToSlash(name), "../"), string(text)})
		return err
	})
	return found, err
})

func pageAt(t *testing.T, name string) page {
	t.Helper()
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return p.path == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return all[i]
}

// A fence is a block of code in a page.
type fence struct{ language, text string }

var fenced = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

func (p page) fences() (found []fence) {
	for _, m := range fenced.FindAllStringSubmatch(p.text, -1) {
		found = append(found, fence{m[1], m[2]})
	}
	return found
}

var (
	linked  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

func TestLinksResolve(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(p.text, ""), -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", p.path, err)
				continue
			}
			if u.Scheme != "" {
				continue // a link to another site
			}
			target := p.path
			if u.Path != "" {
				target = path.Join(path.Dir(p.path), u.Path)
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", p.path, m[1])
			} else if u.Fragment != "" && !slices.Contains(pageAt(t, target).anchors(), u.Fragment) {
				t.Errorf("%s: %s has no heading for the link %s", p.path, target, m[1])
			}
		}
	}
}

// anchors are the headings of a page as GitHub names them in links.
func (p page) anchors() (names []string) {
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(p.text, ""), -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

var (
	inlineCode = regexp.MustCompile("`[^`]+`")
	shellEnds  = regexp.MustCompile("&&|[;|#`\n]")
	// goTestFlags are common flags of go test itself. It gives all others to the test binary, and takes no package
	// behind them.
	goTestFlags = regexp.MustCompile(`^-(bench|benchmem|benchtime|blockprofile|c|count|cover|coverprofile|cpu|cpuprofile|` +
		`failfast|fuzz|fuzztime|json|list|memprofile|mutexprofile|o|p|parallel|race|run|short|shuffle|skip|tags|timeout|` +
		`trace|v|vet)(=|$)`)
)

// commands are the lines of the page's blocks, and what is written as code in its text.
func (p page) commands() (found []string) {
	for _, f := range p.fences() {
		found = append(found, shellEnds.Split(f.text, -1)...)
	}
	for _, code := range inlineCode.FindAllString(fenced.ReplaceAllString(p.text, ""), -1) {
		found = append(found, shellEnds.Split(strings.Join(strings.Fields(code), " "), -1)...)
	}
	return found
}

// packageTooLate returns the package that a command of go test names behind a flag which is not go test's own; "" for
// none. That package is not tested.
func packageTooLate(command string) string {
	_, arguments, _ := strings.Cut(command, "go test ")
	own := false
	for _, a := range strings.Fields(arguments) {
		if strings.HasPrefix(a, "-") && !goTestFlags.MatchString(a) {
			own = true
		}
		if own && (a == "." || strings.HasPrefix(a, "./")) {
			return a
		}
	}
	return ""
}

func TestGoTestCommandsNamePackagesFirst(t *testing.T) {
	all := slices.Clone(pages(t))
	for _, name := range []string{"Makefile", "conformance/Makefile"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page{name, "```\n" + string(text) + "```\n"})
	}
	checked := 0
	for _, p := range all {
		for _, c := range p.commands() {
			if strings.Contains(c, "go test ") {
				checked++
			}
			if late := packageTooLate(c); late != "" {
				t.Errorf("%s: go test does not test %s, which is behind another flag: %s", p.path, late, c)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d commands were found", checked)
	}
}

// pkgs are the folders below internal with code.
func pkgs(t *testing.T) (found []string) {
	t.Helper()
	for _, s := range sources(t) {
		dir := path.Dir(s.path)
		if !s.isTest() && strings.HasPrefix(dir, "internal/") && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
	}
	return found
}

func TestArchitectureNamesEveryRoom(t *testing.T) {
	text := pageAt(t, "docs/architecture.md").text
	have := pkgs(t)
	for _, pkg := range have {
		if !strings.Contains(text, "**`"+pkg+"`**") {
			t.Errorf("docs/architecture.md has no paragraph about %s", pkg)
		}
	}
	for _, m := range regexp.MustCompile("`(internal/[^`]+)`").FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Errorf("docs/architecture.md names %s, which does not exist", m[1])
		}
	}
}

// TestArchitecturePicture holds the picture in docs/architecture.md to the packages.
func TestArchitecturePicture(t *testing.T) {
	picture := pageAt(t, "docs/architecture.md").fences()[0].text
	for _, room := range pkgs(t) {
		name := strings.TrimPrefix(room, "internal/")
		if strings.HasSuffix(name, "test") {
			continue // for tests only
		}
		if !regexp.MustCompile(`(^|[^a-z/])` + name + `([^a-z/]|$)`).MatchString(picture) {
			t.Errorf("the picture in docs/architecture.md has no %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`[a-z]+(?:/[a-z]+)+`).FindAllString(picture, -1) {
		if !slices.Contains(pkgs(t), "internal/"+name) && name != "cmd/mayfly" {
			t.Errorf("the picture in docs/architecture.md names %s, which does not exist", name)
		}
	}
}

// TestTree holds the tree in CONTRIBUTING.md to the packages.
func TestTree(t *testing.T) {
	var tree string
	for _, f := range pageAt(t, "CONTRIBUTING.md").fences() {
		if strings.Contains(f.text, "internal/\n") {
			tree = f.text
		}
	}
	for _, pkg := range pkgs(t) {
		if !regexp.MustCompile(`(^|[\s/])` + path.Base(pkg) + `/`).MatchString(tree) {
			t.Errorf("the tree in CONTRIBUTING.md has no %s", pkg)
		}
	}
	above := "."
	for line := range strings.Lines(tree) {
		name := strings.Fields(line)[0]
		if !strings.HasPrefix(line, " ") {
			above = "."
		}
		if _, err := os.Stat(filepath.Join("..", above, name)); err != nil {
			t.Errorf("the tree in CONTRIBUTING.md names %s, which does not exist", path.Join(above, name))
		}
		if name == "internal/" {
			above = "internal"
		}
	}
}

func TestDifferencesAreNumbered(t *testing.T) {
	numbered := regexp.MustCompile(`(?m)^### (\S+) \S`)
	var known []string
	for i, m := range numbered.FindAllStringSubmatch(pageAt(t, "docs/differences.md").text, -1) {
		if want := fmt.Sprintf("D-%02d", i+1); m[1] != want {
			t.Errorf("docs/differences.md: a difference is numbered %s, want %s", m[1], want)
		}
		known = append(known, m[1])
	}
	if len(known) == 0 {
		t.Error("docs/differences.md lists none")
	}
	for _, p := range pages(t) {
		for _, name := range regexp.MustCompile(`\bD-\d\d\b`).FindAllString(p.text, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: there is no difference %s", p.path, name)
			}
		}
	}
}

func TestDecisionsAreNumbered(t *testing.T) {
	count := 0
	for _, p := range pages(t) {
		if path.Dir(p.path) != "docs/decisions" {
			continue
		}
		count++
		number := fmt.Sprintf("%04d", count)
		if !strings.HasPrefix(path.Base(p.path), number+"-") || !strings.HasPrefix(p.text, "# "+number+". ") {
			t.Errorf("%s: name and title do not begin with %s", p.path, number)
		}
		for _, part := range []string{"Context", "Decision", "Consequences"} {
			if !strings.Contains(p.text, "\n## "+part+"\n") {
				t.Errorf("%s: has no %s", p.path, part)
			}
		}
	}
	if count == 0 {
		t.Error("there are no decisions")
	}
}

// TestGoSession holds the program of docs/go.md to the example that
// conformance runs, and its output to what is expected there.
func TestGoSession(t *testing.T) {
	example, err := os.ReadFile("../conformance/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	fences := pageAt(t, "docs/go.md").fences()
	i := slices.IndexFunc(fences, func(f fence) bool {
		return f.language == "go" && strings.Contains(f.text, "azcosmos.NewClient")
	})
	if i < 0 || i+1 == len(fences) {
		t.Fatal("docs/go.md has no session with azcosmos")
	}
	_, body, ok := strings.Cut(fences[i].text, "\n\tctx := context.Background()\n")
	body = strings.TrimSuffix(body, "}\n")
	if !ok || !strings.Contains(string(example), "\n\tctx := context.Background()\n"+body) {
		t.Errorf("the program in docs/go.md is not the body of conformance/example_test.go:\n%s", body)
	}
	output := "\t// Output:\n\t// " + strings.ReplaceAll(strings.TrimSpace(fences[i+1].text), "\n", "\n\t// ") + "\n"
	if !strings.Contains(string(example), output) {
		t.Errorf("the output in docs/go.md is not that of conformance/example_test.go:\n%s", output)
	}
}

// TestReadmeIsShort keeps the README a page for users: what needs more space belongs in docs.
func TestReadmeIsShort(t *testing.T) {
	const most = 150
	if lines := strings.Count(pageAt(t, "README.md").text, "\n"); lines > most {
		t.Errorf("README.md has %d lines, want %d at most: move what is more to docs", lines, most)
	}
}

func TestGoInPagesIsFormatted(t *testing.T) {
	for _, p := range pages(t) {
		for _, f := range p.fences() {
			if f.language != "go" {
				continue
			}
			if formatted, err := format.Source([]byte(f.text)); err != nil || string(formatted) != f.text {
				t.Errorf("%s: Go that is not as gofmt leaves it, error %v:\n%s", p.path, err, f.text)
			}
		}
	}
}
