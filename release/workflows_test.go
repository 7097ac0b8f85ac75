package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// A workflow is as much of a GitHub workflow as the tests look at.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax
type workflow struct {
	Name        string            `json:"name"`
	On          map[string]any    `json:"on"`
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]struct {
		Uses    string `json:"uses"`
		Needs   string `json:"needs"`
		Timeout int    `json:"timeout-minutes"`
		Steps   []struct {
			Uses string            `json:"uses"`
			Run  string            `json:"run"`
			With map[string]any    `json:"with"`
			Env  map[string]string `json:"env"`
		} `json:"steps"`
	} `json:"jobs"`
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	paths, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(paths) < 2 {
		t.Fatalf("%q, error %v", paths, err)
	}
	found := map[string]workflow{}
	for _, path := range paths {
		var w workflow
		// A key `on` is the boolean true in YAML 1.1, which the decoder speaks.
		text := regexp.MustCompile(`(?m)^on:`).ReplaceAll(readFile(t, path), []byte(`"on":`))
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		found[filepath.Base(path)] = w
	}
	return found
}

// TestWorkflows checks that what workflows call exists, and is of a fixed version.
func TestWorkflows(t *testing.T) {
	makefile := string(readFile(t, "../Makefile"))
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})$`)
	exists := func(name, path string) {
		if _, err := os.Stat(filepath.Join("..", path)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, w := range workflows(t) {
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: every job may do %v", name, w.Permissions)
		}
		for id, job := range w.Jobs {
			if job.Uses != "" {
				exists(name, job.Uses)
				continue
			}
			if job.Timeout == 0 {
				t.Errorf("%s: %s may take for ever", name, id)
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s has no version", name, step.Uses)
				}
				for _, m := range regexp.MustCompile(`(?m)^\s*make (\w+)`).FindAllStringSubmatch(step.Run, -1) {
					if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
						t.Errorf("%s: there is no make %s", name, m[1])
					}
				}
				for word := range strings.FieldsSeq(step.Run) {
					if strings.HasPrefix(word, ".ci/") {
						exists(name, word)
					}
				}
				for _, key := range []string{"go-version-file", "cache-dependency-path"} {
					paths, _ := step.With[key].(string)
					for path := range strings.FieldsSeq(paths) {
						exists(name, path)
					}
				}
			}
		}
	}
}

func TestWorkflowsRunWhatTheyShould(t *testing.T) {
	all := workflows(t)
	has := func(name, job, text string) {
		t.Helper()
		for _, step := range all[name].Jobs[job].Steps {
			if strings.Contains(step.Run, text) {
				return
			}
		}
		t.Errorf("%s: %s does not run %s", name, job, text)
	}
	has("ci.yml", "test", ".ci/run")
	has("release.yml", "release", `make release VERSION="$VERSION"`)
	has("release.yml", "release", "dist/mayfly_${VERSION}_image.tar")
	has("release.yml", "release", "gh release create")
	if ci := all["ci.yml"]; ci.Jobs["test"].Timeout != 60 || ci.On["pull_request"] == nil && len(ci.On) < 2 {
		t.Errorf("ci.yml runs on %v, for %d minutes", ci.On, ci.Jobs["test"].Timeout)
	}
	if r := all["release.yml"]; r.Jobs["release"].Needs != "test" ||
		r.Jobs["test"].Uses != "./.github/workflows/ci.yml" || r.On["push"] == nil {
		t.Errorf("release.yml releases without tests: %+v", r)
	}
	// Crane has the version of the library that makes the image.
	version := regexp.MustCompile(`(?m)^\s*github.com/google/go-containerregistry (\S+)`).FindSubmatch(readFile(t,
		"go.mod"))
	if want := "go-containerregistry/cmd/crane@" +
		string(version[1]); !strings.Contains(string(readFile(t, "../.github/workflows/release.yml")), want) {
		t.Errorf("release.yml has no %s", want)
	}
}
