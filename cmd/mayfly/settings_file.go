package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// readSettings reads a configuration file: lines of `name = value`, and comments from a # at the start of a line or
// after a space. It returns nothing for an empty path.
func readSettings(path string) (map[string]given, error) {
	if path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	found := map[string]given{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for n := 1; lines.Scan(); n++ {
		source := fmt.Sprintf("%s:%d", path, n)
		name, value, err := settingLine(lines.Text())
		switch _, again := found[name]; {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", source, err)
		case name == "":
		case again:
			return nil, fmt.Errorf("%s: %s is set twice", source, name)
		default:
			found[name] = given{value, source + ": " + name}
		}
	}
	return found, lines.Err()
}

// settingLine splits a line; the name is "" for an empty line.
func settingLine(line string) (name, value string, err error) {
	for i, r := range line {
		if r == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	if strings.TrimSpace(line) == "" {
		return "", "", nil
	}
	name, value, ok := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !ok:
		return "", "", fmt.Errorf("this line does not have the form name = value%s", about(name))
	case name == "config":
		return "", "", fmt.Errorf("a configuration file cannot name another")
	case !isSetting(name):
		return "", "", unknownSetting(name)
	}
	return name, value, nil
}

// about names the setting that a line without an equals sign begins with. It repeats nothing else, because any part of
// the line may be a key.
func about(line string) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	if isSetting(first) {
		return ", although it begins with " + first
	}
	return ""
}

func isSetting(name string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return s.name == name })
}
