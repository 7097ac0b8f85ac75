package main

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// writePackages writes a Debian package for each Linux platform.
func (r *release) writePackages(context.Context) error {
	for _, p := range r.platforms {
		if p.system != "linux" {
			continue
		}
		info, err := r.debian(p)
		if err != nil {
			return err
		}
		packager := new(deb.Deb)
		path := filepath.Join(r.out, packager.ConventionalFileName(info))
		if err := writeFile(path, func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
			return err
		}
	}
	return nil
}

// debian describes the package: the binary, the systemd unit with its settings, and the manual.
func (r *release) debian(p platform) (*nfpm.Info, error) {
	var contents files.Contents
	add := func(to, from, kind string, mode os.FileMode) {
		contents = append(contents, &files.Content{
			Destination: to, Source: from, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.date},
		})
	}
	source := func(elem ...string) string { return filepath.Join(append([]string{r.root}, elem...)...) }
	made := func(elem ...string) string { return filepath.Join(append([]string{r.work}, elem...)...) }
	add("/usr/bin/mayfly", r.binary(p), files.TypeFile, 0o755)
	add("/usr/lib/systemd/system/mayfly.service", source("deploy", "systemd", "mayfly.service"), files.TypeFile, 0o644)
	add("/etc/mayfly/mayfly.conf", source("deploy", "systemd", "mayfly.conf"), files.TypeConfigNoReplace, 0o644)
	add("/var/lib/mayfly", "", files.TypeDir, 0o750) // postinst gives it to the user mayfly
	add("/usr/share/doc/mayfly/copyright", filepath.Join(r.root, "release", "debian", "copyright"), files.TypeFile,
		0o644)
	add("/usr/share/doc/mayfly/README.md", source("README.md"), files.TypeFile, 0o644)
	add("/usr/share/bash-completion/completions/mayfly", made("completions", "mayfly.bash"), files.TypeFile, 0o644)
	add("/usr/share/zsh/vendor-completions/_mayfly", made("completions", "_mayfly"), files.TypeFile, 0o644)
	add("/usr/share/fish/vendor_completions.d/mayfly.fish", made("completions", "mayfly.fish"), files.TypeFile, 0o644)
	pages, err := os.ReadDir(made("man"))
	if err != nil {
		return nil, err
	}
	compressed := map[string]string{"/usr/share/doc/mayfly/changelog.gz": source("CHANGELOG.md")}
	for _, page := range pages {
		compressed["/usr/share/man/man1/"+page.Name()+".gz"] = made("man", page.Name())
	}
	for to, from := range compressed {
		small := made(p.String(), filepath.Base(to))
		if err := compress(small, from); err != nil {
			return nil, err
		}
		add(to, small, files.TypeFile, 0o644)
	}
	script := func(name string) string { return source("release", "debian", name) }
	return nfpm.WithDefaults(&nfpm.Info{
		Name: "mayfly", Arch: p.arch, Platform: p.system, Version: r.version, Section: "database", Priority: "optional",
		Maintainer: "mayfly contributors <mayfly@users.noreply.github.com>",
		Homepage:   "https://github.com/mayflydb/mayfly", License: "Apache-2.0",
		Description: "document database with exact time-to-live\n" +
			"mayfly speaks Azure Cosmos DB for NoSQL and MongoDB. Documents end at their\nsecond, and their space " +
			"comes back by itself.",
		MTime: r.date, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents, Depends: []string{"adduser"},
			Scripts: nfpm.Scripts{PostInstall: script("postinst"), PreRemove: script("prerm"),
				PostRemove: script("postrm")},
			Deb: nfpm.Deb{Compression: "xz"}, // dpkg reads zstd from Debian 12 on only
		},
	}), nil
}

// compress writes a file as Debian wants its documentation: with gzip, and without name and time.
func compress(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, func(w io.Writer) error {
		packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := packed.Write(content); err != nil {
			return err
		}
		return packed.Close()
	})
}
