package internal

import (
	"strings"
	"testing"
)

// TestOneTranslatorOfPatterns holds the API for MongoDB to one package that compiles regular expressions: two once
// disagreed about what a pattern matches.
func TestOneTranslatorOfPatterns(t *testing.T) {
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.pkg, "mongo/") || s.pkg == "mongo/pattern" || s.isTest() {
			continue
		}
		for imported, pos := range s.imports {
			if imported == "regexp" || imported == "regexp/syntax" || strings.Contains(imported, "regexp2") {
				t.Errorf("%s: %s compiles patterns by itself: use mongo/pattern", s.at(pos), s.pkg)
			}
		}
	}
}
