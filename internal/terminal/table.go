package terminal

import (
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	gap         = 2  // between columns
	leastColumn = 6  // columns do not become narrower to fit; rather the last ones are left out
	leastFirst  = 16 // the same for the first column, which says what a row is about
)

// A Column is one column of a table.
type Column struct {
	Name  string
	Right bool // for numbers
}

// Columns returns columns with these names. A name that begins with > is that of a column of numbers.
func Columns(names ...string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		bare, right := strings.CutPrefix(name, ">")
		columns[i] = Column{bare, right}
	}
	return columns
}

// A Table writes rows in columns that fit the screen. The first rows decide how wide the columns are.
type Table struct {
	out     io.Writer
	width   int
	columns []Column
	widths  []int // nil before the first rows
	hidden  int   // columns at the end that do not fit
}

// Table begins a table on the screen.
func (s Screen) Table(columns []Column) *Table {
	return &Table{out: s.Out, width: s.width, columns: columns}
}

// Write writes rows, and the names of the columns before the first. A cell that does not fit ends with "…".
func (t *Table) Write(rows [][]string) error {
	first := t.widths == nil
	for _, row := range rows {
		for i := range row {
			row[i] = Plain(row[i])
		}
	}
	if first {
		t.measure(rows)
	}
	w := table.NewWriter()
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	w.SetColumnConfigs(t.configs())
	if first {
		w.AppendHeader(t.row(t.names()))
	}
	for _, row := range rows {
		w.AppendRow(t.row(row))
	}
	if w.Length() == 0 && !first {
		return nil
	}
	_, err := io.WriteString(t.out, w.Render()+"\n")
	return err
}

// style has no lines, and a gap on the right of each column.
var style = table.Style{
	Box:     table.BoxStyle{PaddingRight: strings.Repeat(" ", gap), UnfinishedRow: "…"},
	Options: table.OptionsNoBordersAndSeparators,
}

func (t *Table) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = Plain(c.Name)
	}
	return names
}

// row has the cells of the columns that are shown, and a mark for columns that are not.
func (t *Table) row(cells []string) table.Row {
	row := make(table.Row, 0, len(cells))
	for _, cell := range cells[:len(t.widths)] {
		row = append(row, cell)
	}
	if t.hidden > 0 {
		row = append(row, "…")
	}
	return row
}

func (t *Table) configs() []table.ColumnConfig {
	configs := make([]table.ColumnConfig, len(t.widths))
	for i, width := range t.widths {
		align := text.AlignDefault
		if t.columns[i].Right {
			align = text.AlignRight
		}
		configs[i] = table.ColumnConfig{
			Number: i + 1, WidthMin: width, WidthMax: width, WidthMaxEnforcer: cut, Align: align, AlignHeader: align,
		}
	}
	return configs
}

// cut shortens a cell.
func cut(cell string, width int) string { return text.Snip(cell, width, "…") }

// measure decides the widths of the columns: those of the widest cells, if they fit together; else the widest columns
// become narrower.
func (t *Table) measure(rows [][]string) {
	widths := make([]int, len(t.columns))
	for _, row := range append([][]string{t.names()}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], text.StringWidth(cell))
		}
	}
	if t.width > 0 {
		for total(widths) > t.width && narrow(widths, t.least(widths), total(widths)-t.width) {
		}
		for len(widths) > 1 && total(widths) > t.width {
			if t.hidden++; t.hidden == 1 {
				t.width -= gap + 1 // for the mark
			}
			widths = widths[:len(widths)-1]
		}
	}
	t.widths = widths
}

// least is how narrow each column may become. A part of a number would be another number, so numbers are not cut.
func (t *Table) least(widths []int) []int {
	least := make([]int, len(widths))
	for i, width := range widths {
		switch {
		case t.columns[i].Right:
			least[i] = width
		case i == 0:
			least[i] = max(leastColumn, min(leastFirst, t.width/2))
		default:
			least[i] = leastColumn
		}
	}
	return least
}

// total is the width of a row.
func total(widths []int) int {
	sum := gap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// narrow makes the widest column that may be narrower so by at most excess, and down to the second widest of them. It
// reports whether that was possible.
func narrow(widths, least []int, excess int) bool {
	widest, second := -1, 0
	for i, w := range widths {
		if w > least[i] && (widest < 0 || w > widths[widest]) {
			widest = i
		}
	}
	if widest < 0 {
		return false
	}
	for i, w := range widths {
		if i != widest && w > least[i] {
			second = max(second, w)
		}
	}
	now := widths[widest]
	// Two columns of the same width become narrower in turns, one by one.
	widths[widest] = max(now-excess, min(second, now-1), least[widest])
	return true
}
