package internal

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const limitsPage = "docs/limits.md"

// limited are the packages whose constants with names of limits must be on the page or in inner.
var limited = []string{
	"admin", "bulk", "catalog", "cosmos/pattern", "cosmos/rest", "cosmos/script", "cosmos/sql/exec",
	"cosmos/sql/function", "cosmos/sql/plan", "cosmos/sql/syntax", "foresight", "kv", "mongo/account", "mongo/call",
	"mongo/command", "mongo/expression", "mongo/failpoint", "mongo/filter", "mongo/monitor", "mongo/parameter",
	"mongo/pattern", "mongo/pipeline", "mongo/query", "mongo/schema", "mongo/session", "mongo/update", "mongo/wire",
	"mongo/write", "node", "store", "transfer",
}

// inner are constants that are not limits to clients: they bound caches, what is shown or logged, how far a plan
// searches for a better one, or what a type can hold.
var inner = fields(`
cosmos/rest.maxFacts cosmos/rest.maxTerms cosmos/rest.maxPlan cosmos/rest.maxSegments cosmos/rest.maxPrograms cosmos/rest.maxPooled cosmos/rest.maxPooledPage cosmos/rest.maxRIDNumber
cosmos/script.maxBuiltIn cosmos/script.maxDefaults cosmos/script.maxMatch cosmos/script.maxNames cosmos/script.maxNumber cosmos/script.maxPatterns cosmos/script.maxReplaced cosmos/script.maxWaiting
cosmos/sql/exec.maxCount cosmos/sql/exec.maxKey cosmos/sql/exec.maxKnownPattern cosmos/sql/exec.maxPassed cosmos/sql/exec.maxRoom cosmos/sql/exec.maxLate cosmos/sql/exec.maxLateBody cosmos/sql/exec.maxSortedValues cosmos/sql/exec.maxSpareBody
cosmos/sql/function.maxKnown cosmos/sql/function.maxStemBytes cosmos/sql/function.maxTicks cosmos/sql/function.minTicks cosmos/sql/function.mostQuarters
cosmos/sql/plan.maxAlternatives cosmos/sql/plan.maxColumns cosmos/sql/plan.maxElements cosmos/sql/plan.maxGatewayCount cosmos/sql/plan.maxGatewayKeys cosmos/sql/plan.maxGatewayPairs cosmos/sql/plan.maxGatewayText
cosmos/sql/plan.maxPath cosmos/sql/plan.maxReduced cosmos/sql/plan.maxTests cosmos/sql/plan.maxTogether cosmos/sql/plan.maxTold cosmos/sql/plan.maxToldBytes cosmos/sql/plan.minGatewayCandidates
cosmos/sql/syntax.maxBrackets kv.MaxKeyBytes
mongo/command.maxBatchCount mongo/failpoint.maxBlock mongo/write.maxMismatchDepth mongo/write.maxMismatches mongo/write.maxConsidered
mongo/account.maxProvenNames mongo/monitor.maxLogBytes mongo/monitor.maxLoggedName mongo/write.maxLooks mongo/call.maxNodes mongo/query.maxReplans
mongo/session.MaxReplyBytes mongo/query.MaxRing mongo/monitor.maxShape mongo/monitor.maxShownCommand mongo/command.maxSlow mongo/query.maxNosqlIDs
mongo/query.maxChunk mongo/monitor.maxUsage mongo/account.maxTries mongo/parameter.maxVerbosity mongo/command.maxWireVersion foresight.maxFilterText
foresight.maxIdentity foresight.maxSamples store.maxShared store.maxUnsynced
mongo/expression.maxAmounts mongo/expression.maxBin mongo/expression.maxCopied mongo/expression.maxDateText mongo/expression.maxDays mongo/expression.maxExactPower mongo/expression.maxFolded mongo/expression.maxFoldedCost
mongo/expression.maxNumeral mongo/expression.maxPlace mongo/expression.minPlace mongo/expression.maxShown mongo/expression.maxYears mongo/expression.maxZoneName mongo/expression.maxZones mongo/expression.minExponent
mongo/filter.maxPathNames mongo/filter.maxPathNumbers mongo/pattern.maxSize mongo/pattern.maxSpans mongo/pattern.maxWritten
mongo/pipeline.MaxDocumentBytes mongo/update.maxKeys mongo/update.maxParts mongo/update.maxQueryDepth mongo/update.maxText admin.maxRetries
catalog.maxTurns catalog.maxPause store.maxAttempts store.maxDoubts mongo/call.maxSkew catalog.MaxIDBytes catalog.MaxPartitionString store.maxInstant store.maxKept store.maxProblems catalog.maxShown bulk.maxKeptLine bulk.maxStamp
transfer.maxAnswer transfer.maxBSON transfer.maxCollections transfer.maxFirst transfer.maxMetadata transfer.maxNames
admin.maxGuessers node.MaxPartitions
`)

func fields(text string) map[string]bool {
	set := map[string]bool{}
	for f := range strings.FieldsSeq(text) {
		set[f] = true
	}
	return set
}

var (
	limitName = regexp.MustCompile(`^(?:[mM]ax|[mM]ost|min)[A-Z]`)
	constCell = regexp.MustCompile("^`([a-z/]+\\.[A-Za-z]+)`$")
	quantity  = regexp.MustCompile(`^([0-9][0-9,.]*)(?: (KiB|ms|MiB|GiB|s|min|h)\b)?`)
)

// The numbers on the page equal those of the sources, and every constant of the APIs with the name of a limit is on
// the page.
func TestLimitsAreThoseOfThePage(t *testing.T) {
	sources := constants{packages: map[string]map[string]ast.Expr{}}
	listed := map[string]bool{}
	for line := range strings.Lines(pageAt(t, limitsPage).text) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "¦"), "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "limit" {
			continue
		}
		m := constCell.FindStringSubmatch(strings.TrimSpace(cells[4]))
		if m == nil {
			if strings.TrimSpace(cells[4]) != "" {
				t.Errorf("%s: %q names no constant", limitsPage, cells[4])
			}
			continue
		}
		listed[m[1]] = true
		dot := strings.LastIndexByte(m[1], '.')
		got, err := sources.value(t, m[1][:dot], m[1][dot+1:])
		if err != nil {
			t.Errorf("%s: %s: %v", limitsPage, m[1], err)
			continue
		}
		shown := strings.TrimSpace(cells[2])
		isGot := func(w constant.Value) bool { return constant.Compare(got, token.EQL, w) }
		if want, ok := shownAs(shown); !ok || !slices.ContainsFunc(want, isGot) {
			t.Errorf("%s: %s is %s in the source, and %q on the page", limitsPage, m[1], got, shown)
		}
	}
	if len(listed) < 100 {
		t.Fatalf("%s lists %d constants, which cannot be all", limitsPage, len(listed))
	}
	for _, p := range limited {
		for _, name := range slices.Sorted(maps.Keys(sources.of(t, p))) {
			full := p + "." + name
			if limitName.MatchString(name) && !listed[full] && !inner[full] {
				t.Errorf("internal/%s is a limit that %s does not list: add it there, or to inner if no client meets it",
					full, limitsPage)
			}
		}
	}
	for full := range inner {
		dot := strings.LastIndexByte(full, '.')
		if sources.of(t, full[:dot])[full[dot+1:]] == nil || listed[full] {
			t.Errorf("inner has %s, which is no constant, or on the page", full)
		}
	}
}

// shownAs lists the values that a constant may have if the page shows text: a duration is in nanoseconds, seconds or
// minutes.
func shownAs(text string) (list []constant.Value, ok bool) {
	m := quantity.FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	n := constant.MakeFromLiteral(strings.ReplaceAll(m[1], ",", ""), token.FLOAT, 0)
	times := func(factor int64) { list = append(list, constant.BinaryOp(n, token.MUL, constant.MakeInt64(factor))) }
	switch m[2] {
	case "KiB":
		times(1 << 10)
	case "MiB":
		times(1 << 20)
	case "GiB":
		times(1 << 30)
	case "ms":
		times(1e6)
	case "s":
		times(1)
		times(1e9)
	case "min":
		times(1)
		times(60)
		times(60e9)
	case "h":
		times(3600)
		times(3600e9)
	default:
		times(1)
	}
	return list, true
}

// constants returns the constants of packages, and variables that are initialised with a constant, as the sources
// write them.
type constants struct {
	packages map[string]map[string]ast.Expr
}

func (c *constants) of(t *testing.T, path string) map[string]ast.Expr {
	t.Helper()
	if found := c.packages[path]; found != nil {
		return found
	}
	found := map[string]ast.Expr{}
	c.packages[path] = found
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(path), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("internal/%s: %v, %v", path, err, fs.ErrNotExist)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST && group.Tok != token.VAR {
				continue
			}
			for _, s := range group.Specs {
				spec := s.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						found[name.Name] = spec.Values[i]
					}
				}
			}
		}
	}
	return found
}

func (c *constants) value(t *testing.T, path, name string) (constant.Value, error) {
	e := c.of(t, path)[name]
	if e == nil {
		return nil, fmt.Errorf("there is no such constant")
	}
	return c.eval(t, path, e)
}

var units = map[string]int64{"Second": 1e9, "Minute": 60e9, "Hour": 3600e9, "Millisecond": 1e6}

func (c *constants) eval(t *testing.T, path string, e ast.Expr) (constant.Value, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.ToFloat(constant.MakeFromLiteral(e.Value, e.Kind, 0)), nil
	case *ast.ParenExpr:
		return c.eval(t, path, e.X)
	case *ast.Ident:
		return c.value(t, path, e.Name)
	case *ast.SelectorExpr:
		of := e.X.(*ast.Ident).Name
		if of == "time" {
			return constant.ToFloat(constant.MakeInt64(units[e.Sel.Name])), nil
		}
		for _, p := range append([]string{"doc", "keys"}, limited...) {
			if p == of || strings.HasSuffix(p, "/"+of) {
				return c.value(t, p, e.Sel.Name)
			}
		}
	case *ast.BinaryExpr:
		x, err := c.eval(t, path, e.X)
		if err != nil {
			return nil, err
		}
		y, err := c.eval(t, path, e.Y)
		if err != nil {
			return nil, err
		}
		if e.Op == token.SHL {
			n, err := strconv.ParseUint(y.ExactString(), 10, 8)
			return constant.ToFloat(constant.Shift(constant.ToInt(x), token.SHL, uint(n))), err
		}
		return constant.BinaryOp(x, e.Op, y), nil
	}
	return nil, fmt.Errorf("the test cannot compute a %T", e)
}
