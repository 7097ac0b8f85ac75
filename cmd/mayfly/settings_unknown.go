package main

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// prefix is what the environment variables of all settings begin with.
const prefix = "MAYFLY_"

// Kubernetes sets variables about each service of the namespace in every container, as Docker does for links
// (kubernetes/kubernetes: pkg/kubelet/envvars/envvars.go). If the service is called mayfly, or mayfly-something, they
// have the prefix of settings. MAYFLY_PORT is one of them only if its value is a URL: with the value 8081 it is a
// mistake.
var (
	serviceVariable = regexp.MustCompile(`^MAYFLY(_[A-Z0-9_]+)?_` +
		`(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)
	portVariable = regexp.MustCompile(`^MAYFLY(_[A-Z0-9_]+)?_PORT$`)
	portURL      = regexp.MustCompile(`^(tcp|udp|sctp)://`)
)

// ofService reports whether a variable describes a service, and is not a setting.
func ofService(name, value string) bool {
	return serviceVariable.MatchString(name) || portVariable.MatchString(name) && portURL.MatchString(value)
}

// unknownVariable fails if environ, which has lines of name=value, has a variable with the prefix of settings that is
// not a setting. The error never contains its value, which may be a key.
func unknownVariable(environ []string) error {
	for _, line := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(line, "=")
		if runtime.GOOS == "windows" { // names of variables ignore case there
			name = strings.ToUpper(name)
		}
		if !strings.HasPrefix(name, prefix) || value == "" || ofService(name, value) ||
			slices.Contains(copyVariables, name) {
			continue
		}
		if slices.ContainsFunc(settings, func(s setting) bool { return s.env() == name }) {
			continue
		}
		if s, ok := nearest(name); ok {
			return fmt.Errorf("%s: there is no such setting, did you mean %s?", name, s.env())
		}
		return fmt.Errorf("%s: there is no such setting: unset it, or see 'mayfly --help' for all settings", name)
	}
	return nil
}

// plain is the form in which names of settings are compared: the form of flags.
func plain(name string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimLeft(name, "-")), "_", "-")
	return strings.TrimPrefix(name, strings.ToLower(strings.ReplaceAll(prefix, "_", "-")))
}

// nearest finds the setting that a misspelt name probably means: a few letters differ, or it is the end of the
// setting's name.
func nearest(name string) (setting, bool) {
	name = plain(name)
	best, found, ok := 1+min(2, len(name)/3), setting{}, false
	for _, s := range settings {
		if d := distance(name, s.name); d < best {
			best, found, ok = d, s, true
		}
	}
	if ok {
		return found, true
	}
	for _, s := range settings {
		if strings.HasSuffix(s.name, "-"+name) {
			return s, true
		}
	}
	return setting{}, false
}

// distance is the number of letters to insert, delete, change, or swap with their neighbour, to turn a into b.
func distance(a, b string) int {
	var before, last []int // the rows for two letters of a less, and for one
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last = last, row
		row = make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// ordinaryName matches a word of a wrong line that is certainly not a key: keys in base64 or hexadecimal have digits or
// capitals.
var ordinaryName = regexp.MustCompile(`^[a-z][a-z_-]{0,39}$`)

// unknownSetting is the error for a name in a configuration file that is not a setting. It contains the name only if
// that looks like a name, because any part of a wrong line may be a key.
func unknownSetting(name string) error {
	shown := ""
	if ordinaryName.MatchString(name) {
		shown = " " + name
	}
	if s, ok := nearest(name); ok {
		return fmt.Errorf("there is no such setting%s, did you mean %s?", shown, s.name)
	}
	return fmt.Errorf("there is no such setting%s", shown)
}

// unknownFlag adds the nearest name to the error about an unknown flag.
func unknownFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if name := nearestFlag(cmd, unknown.GetSpecifiedName()); name != "" {
		return fmt.Errorf("%w, did you mean --%s?", err, name)
	}
	return err
}

// nearestFlag finds the flag of a command that a misspelt name probably means, "" for none.
func nearestFlag(cmd *cobra.Command, name string) (found string) {
	if s, ok := nearest(name); ok && cmd.Flags().Lookup(s.name) != nil {
		return s.name
	}
	best := 1 + min(2, len(name)/3)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := distance(name, f.Name); d < best && !f.Hidden {
			best, found = d, f.Name
		}
	})
	return found
}
