package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// everyPlatform is what a release is for.
var everyPlatform = []string{
	"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
}

// A release is what is to be built, and from what.
type release struct {
	version   string // such as v0.1.0
	commit    string // ends in -dirty when the work tree has changes
	date      time.Time
	root, out string
	platforms []platform
	work      string // folder for what is made on the way
}

// newRelease finds out about the sources.
func newRelease(ctx context.Context, version, root, out string, platforms []string) (*release, error) {
	if semver.Canonical(version) != version || version == "" {
		return nil, fmt.Errorf("%q is no version: give one such as v0.1.0 or v0.2.0-rc.1", version)
	}
	r := &release{version: version}
	for _, p := range platforms {
		if !slices.Contains(everyPlatform, p) {
			return nil, fmt.Errorf("%q is none of %s", p, strings.Join(everyPlatform, ", "))
		}
		system, arch, _ := strings.Cut(p, "/")
		r.platforms = append(r.platforms, platform{system, arch})
	}
	var err error
	if r.root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	if r.commit, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	changes, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changes != "" {
		r.commit += "-dirty"
	}
	r.date, err = r.sourceDate(ctx)
	return r, err
}

// sourceDate is the time that every file of the release has: that of the commit, or what
// https://reproducible-builds.org/specs/source-date-epoch/ says.
func (r *release) sourceDate(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = r.git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	out, err := output(exec.CommandContext(ctx, "git", append([]string{"-C", r.root}, args...)...))
	return strings.TrimSpace(out), err
}

// output runs a program, and has what it complained of in the error.
func output(cmd *exec.Cmd) (string, error) {
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, complaint.String())
	}
	return string(out), err
}

// build makes everything. The folder is made anew, so that its checksums are of this release only.
func (r *release) build(ctx context.Context) (err error) {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "mayfly-release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	for _, step := range []func(context.Context) error{
		r.writeManual, r.buildBinaries, r.writeArchives, r.writePackages, r.writeImage, r.writeBill, r.writeSums,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A platform is an operating system and an architecture, as Go names them.
type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "_" + p.arch }

// program is the name of the binary.
func (p platform) program() string {
	if p.system == "windows" {
		return "mayfly.exe"
	}
	return "mayfly"
}

// binary is where the binary of a platform is built.
func (r *release) binary(p platform) string { return filepath.Join(r.work, p.String(), p.program()) }

func (r *release) buildBinaries(ctx context.Context) error {
	for _, p := range r.platforms {
		args := []string{"build", "-o", r.binary(p), "-trimpath", "-buildvcs=false",
			"-ldflags=-s -w -buildid= -X main.released=" + r.version + " -X main.commit=" + r.commit, "./cmd/mayfly"}
		if _, err := output(r.goCommand(ctx, r.root, p, args...)); err != nil {
			return err
		}
	}
	return nil
}

// goCommand calls the toolchain that built this program, and lets nothing of the machine's
// settings into what it builds.
func (r *release) goCommand(ctx context.Context, dir string, p platform, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+runtime.Version(), "GOFLAGS=-mod=readonly", "GOWORK=off",
		"GOEXPERIMENT=", "GOFIPS140=off",
		"CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	return cmd
}
