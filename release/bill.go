package main

import (
	"context"
	"debug/buildinfo"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBill writes the bill of materials: every module that some binary of the release holds, as the
// toolchain wrote it into them.
func (r *release) writeBill(context.Context) error {
	modules, toolchain := map[string]cdx.Component{}, ""
	for _, p := range r.platforms {
		info, err := buildinfo.ReadFile(r.binary(p))
		if err != nil {
			return err
		}
		toolchain = info.GoVersion
		for _, m := range info.Deps {
			c := module(m.Path, m.Version)
			modules[c.PackageURL] = c
		}
	}
	standard := module("std", strings.TrimPrefix(toolchain, "go"))
	modules[standard.PackageURL] = standard
	var parts []string
	var components []cdx.Component
	for _, url := range slices.Sorted(maps.Keys(modules)) {
		parts, components = append(parts, url), append(components, modules[url])
	}
	mayfly := module("github.com/mayflydb/mayfly", r.version)
	mayfly.Type = cdx.ComponentTypeApplication
	mayfly.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &mayfly}
	bill.Components = &components
	bill.Dependencies = &[]cdx.Dependency{{Ref: mayfly.BOMRef, Dependencies: &parts}}
	return writeFile(filepath.Join(r.out, "mayfly_"+r.version+".cdx.json"), func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
	})
}

// module is a Go module by its package URL.
// https://github.com/package-url/purl-spec/blob/main/types-doc/golang-definition.md
func module(path, version string) cdx.Component {
	url := "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}
