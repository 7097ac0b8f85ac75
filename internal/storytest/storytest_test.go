package storytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// double answers with what it is given twice; "unit x" changes what is between.
func double() Answer {
	unit := ""
	return func(_ *testing.T, given string) (string, bool) {
		if u, ok := strings.CutPrefix(given, "unit "); ok {
			unit = u
			return "", false
		}
		if given == "nothing" {
			return "", true
		}
		return given + unit + given, true
	}
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name         string
		format       Format
		before, want string
	}{
		{"lines", Lines, "# A comment.\n\na => ?\nunit +\n# Another one.\nb\n",
			"# A comment.\n\na => aa\nunit +\n# Another one.\nb => b+b\n"},
		{"blocks", Blocks, "# A comment.\na\nb\n----\n?\n\nnothing\n----\n?\n\nunit +\n\n# Another one.\n\nc\n",
			"# A comment.\na\nb\n----\na\nba\nb\n\nnothing\n----\n\nunit +\n\n# Another one.\n\nc\n----\nc+c\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "case.txt")
			write(t, file, c.before)
			*rewrite = true
			Run(t, file, c.format, double)
			*rewrite = false
			got, err := os.ReadFile(file)
			if err != nil || string(got) != c.want {
				t.Errorf("written:\n%s\nwant:\n%s\n%v", got, c.want, err)
			}
			Run(t, file, c.format, double)
		})
	}
}

func TestSection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	write(t, file, "top\n<!-- list -->\nold\n<!-- end -->\nbottom\n")
	*rewrite = true
	Section(t, file, "<!-- list -->\n", "<!-- end -->", "new\n")
	*rewrite = false
	got, err := os.ReadFile(file)
	if err != nil || string(got) != "top\n<!-- list -->\nnew\n<!-- end -->\nbottom\n" {
		t.Errorf("%s, %v", got, err)
	}
	Section(t, file, "<!-- list -->\n", "<!-- end -->", "new\n")
}
