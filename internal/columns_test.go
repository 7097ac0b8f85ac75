package internal

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A line of Go has up to 120 columns. A column is a character, and a tab is four of them: what editors and reviews
// usually show. gofmt indents with tabs, so a deeper line has less room.
const maxColumns, tabColumns = 120, 4

// longString is how wide a string literal of a test must be to excuse the length of its line. JSON, programs and
// texts that were recorded from a service read better whole than in pieces.
const longString = 60

func TestLinesFit(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder := d.Name()
		if d.IsDir() && (folder == "testdata" || folder == "node_modules" || folder != ".." && folder[0] == '.') {
			return fs.SkipDir
		}
		name = filepath.ToSlash(name)
		below := strings.TrimPrefix(name, "../")
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		long := longLines(string(text))
		if strings.HasSuffix(name, "_test.go") && len(long) > 0 {
			excuse(long, text)
		}
		for line, width := range long {
			t.Errorf("%s:%d: %d columns, want up to %d", below, line, width, maxColumns)
		}
		return nil
	})
	if err != nil || files < 200 {
		t.Errorf("%d files read: %v", files, err)
	}
}

// longLines returns the lines of text that are too long, by their numbers from 1, with their columns.
func longLines(text string) map[int]int {
	long := map[int]int{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if width := columns(line); width > maxColumns {
			long[number] = width
		}
	}
	return long
}

func columns(s string) int { return utf8.RuneCountInString(s) + (tabColumns-1)*strings.Count(s, "\t") }

// excuse removes the lines that a long string literal is on.
func excuse(long map[int]int, text []byte) {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return
		}
		if kind != token.STRING {
			continue
		}
		number := file.Line(pos)
		for part := range strings.Lines(literal) {
			if columns(part) >= longString {
				delete(long, number)
			}
			number++
		}
	}
}

func TestLongLinesAreFound(t *testing.T) {
	word := strings.Repeat("w", longString)
	for _, c := range []struct {
		name, line string
		long       bool
	}{
		{"120 columns", strings.Repeat("é", 120), false},
		{"121 columns", strings.Repeat("é", 121), true},
		{"tabs", "\t\t" + strings.Repeat("x", 112), false},
		{"tabs that are too many", "\t\t" + strings.Repeat("x", 113), true},
		{"short strings", strings.Repeat(`f("text"); `, 12), true},
		{"a long string", "f(" + strings.Repeat("x, ", 25) + `"` + word + `")`, false},
		{"a long string of several lines", "f(`\n" + word + word + word + "\n`)", false},
	} {
		text := "package p\n\n" + c.line + "\n"
		long := longLines(text)
		excuse(long, []byte(text))
		if len(long) > 0 != c.long {
			t.Errorf("%s: long lines %v, want some: %v", c.name, long, c.long)
		}
	}
}
