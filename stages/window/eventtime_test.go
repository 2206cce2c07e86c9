package window

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// sale is a record as a file of last week has it.
type sale struct {
	at    time.Time
	shop  any
	price int
}

func (s sale) record() pipeline.Record {
	return pipeline.Record{"at": s.at.Format(time.RFC3339Nano), "shop": s.shop, "price": s.price}
}

// TestEventTime counts records by the time that they give, in whatever order they come, and wants what an oracle finds
// that sorts them first.
func TestEventTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		slide := time.Duration(1+random.IntN(4)) * time.Minute
		size := slide * time.Duration(1+random.IntN(3))
		lateness := time.Duration(random.IntN(10)) * time.Minute
		sales := lastWeek(random)
		o := with(func(o *Options) {
			o.Time, o.Size, o.Slide, o.Lateness, o.Key = "at", pipeline.Duration(size), pipeline.Duration(slide), pipeline.Duration(lateness), "shop"
			o.Aggregate = map[string]string{"sum": "sum price", "n": "count"}
			o.Hold = seed%2 == 0
		})
		var inputs []any
		for _, s := range sales {
			inputs = append(inputs, s.record())
		}
		got := stagetest.Try(t, stagetest.Case{Type: "window", Options: o, Inputs: inputs})
		late := tooLate(sales, size, slide, lateness)
		var gotLate []string
		for _, v := range got.Out["late"] {
			gotLate = append(gotLate, fmt.Sprint(v))
		}
		var wantLate []string
		for i, is := range late {
			if is {
				wantLate = append(wantLate, fmt.Sprint(inputs[i]))
			}
		}
		if !reflect.DeepEqual(gotLate, wantLate) {
			t.Fatalf("seed %d: too late are %d, want %d", seed, len(gotLate), len(wantLate))
		}
		records := written(t, got.Out[""])
		if want := sorted(sales, size, slide, lateness); !slices.Equal(records, want) {
			t.Fatalf("seed %d: windows of %v each %v, %v late:\n%s\nwant\n%s", seed, size, slide, lateness, strings.Join(records, "\n"), strings.Join(want, "\n"))
		}
	}
}

// lastWeek is records of some shops, a bit out of order.
func lastWeek(random *rand.Rand) (sales []sale) {
	at := time.Date(1999, 12, 24, 0, 0, 0, 0, time.UTC) // before the day at which clocks of tests begin
	shops := []any{"a", "b", nil, 7, "7", ""}
	for range 200 {
		at = at.Add(time.Duration(random.IntN(120)) * time.Second)
		sales = append(sales, sale{at.Add(-time.Duration(random.IntN(10*60)) * time.Second), shops[random.IntN(len(shops))], random.IntN(100)})
	}
	return sales
}

func windowsOf(at time.Time, size, slide time.Duration) (from []time.Time) {
	for begin := at.Truncate(slide); begin.Add(size).After(at); begin = begin.Add(-slide) {
		from = append(from, begin)
	}
	return from
}

// tooLate reports of each record whether all of its windows are over when it comes, by those before.
func tooLate(sales []sale, size, slide, lateness time.Duration) (late []bool) {
	for i, s := range sales {
		late = append(late, true)
		for _, from := range windowsOf(s.at, size, slide) {
			if isOpen(from.Add(size), sales[:i], lateness) {
				late[i] = false
			}
		}
	}
	return late
}

func isOpen(end time.Time, before []sale, lateness time.Duration) bool {
	return !slices.ContainsFunc(before, func(s sale) bool { return !s.at.Add(-lateness).Before(end) })
}

// sorted sums the records up window by window: all of a window lie together once they are sorted.
func sorted(sales []sale, size, slide, lateness time.Duration) (records []string) {
	type counted struct {
		window string
		price  int
	}
	var all []counted
	for i, s := range sales {
		for _, from := range windowsOf(s.at, size, slide) {
			if isOpen(from.Add(size), sales[:i], lateness) {
				key, _ := json.Marshal(s.shop)
				all = append(all, counted{stamp(from) + " " + stamp(from.Add(size)) + " " + string(key), s.price})
			}
		}
	}
	slices.SortFunc(all, func(a, b counted) int { return strings.Compare(a.window, b.window) })
	for len(all) > 0 {
		n, sum := 0, 0
		for n < len(all) && all[n].window == all[0].window {
			sum += all[n].price
			n++
		}
		records = append(records, fmt.Sprint(all[0].window, " ", sum, " ", n))
		all = all[n:]
	}
	return records
}

func written(t *testing.T, values []any) (records []string) {
	for _, v := range values {
		r := v.(pipeline.Record)
		key, err := json.Marshal(r["key"])
		if err != nil || r["closed"] == "limit" {
			t.Errorf("%v: %v", r, err)
		}
		records = append(records, fmt.Sprint(r["from"], " ", r["to"], " ", string(key), " ", r["sum"], " ", r["n"]))
	}
	slices.Sort(records)
	return records
}

// A window is closed as soon as the time of the records is past it, and not by the clock.
func TestEventTimeClosesWindowsWhileRecordsCome(t *testing.T) {
	t.Parallel()
	day := func(n int) pipeline.Record {
		return pipeline.Record{"at": fmt.Sprintf("1999-12-%02d", n), "price": n}
	}
	o := with(func(o *Options) {
		o.Time, o.Size, o.Lateness = "at", pipeline.Duration(24*time.Hour), pipeline.Duration(24*time.Hour)
		o.Aggregate = map[string]string{"sum": "sum price"}
	})
	got := stagetest.Try(t, stagetest.Case{Type: "window", Options: o, Inputs: []any{
		day(20), day(21), day(20), day(22), day(21), day(20),
		pipeline.Record{"at": "2999-01-01", "price": 1}, // whose clock is wrong: what comes behind it is not late
		day(23), day(24),
	}})
	var records []string
	for _, v := range got.Out[""] {
		r := v.(pipeline.Record)
		records = append(records, fmt.Sprint(r["from"].(string)[:10], " ", r["closed"], " ", r["sum"]))
	}
	slices.Sort(records)
	if len(got.Out["late"]) != 1 {
		t.Errorf("too late are %v", got.Out["late"])
	}
	want := []string{"1999-12-20 time 40", "1999-12-21 time 42", "1999-12-22 time 22", "1999-12-23 end 23", "1999-12-24 end 24", "2999-01-01 end 1"}
	if !slices.Equal(records, want) {
		t.Errorf("records\n%s\nwant\n%s", strings.Join(records, "\n"), strings.Join(want, "\n"))
	}
}

func TestEventTimeOfTimesOfEachKind(t *testing.T) {
	t.Parallel()
	const want = "1999-12-31T10:00:00.000Z"
	for _, at := range []any{
		"1999-12-31T10:30:00Z", "1999-12-31T12:30:00+02:00", "1999-12-31 10:30:00", "1999-12-31T10:30:00.5", 946636200, 946636200.25,
		json.Number("946636200"), time.Date(1999, 12, 31, 10, 30, 0, 0, time.UTC), "31.12.1999", nil, true, 1e300,
	} {
		o := with(func(o *Options) { o.Time, o.Size = "at", pipeline.Duration(time.Hour) })
		got := stagetest.Try(t, stagetest.Case{Type: "window", Options: o, Inputs: []any{pipeline.Record{"at": at}}})
		switch at {
		case "31.12.1999", nil, true, 1e300:
			if len(got.Failures) != 1 {
				t.Errorf("%#v is taken for a time: %v", at, got.Out)
			}
		default:
			if len(got.Out[""]) != 1 || got.Out[""][0].(pipeline.Record)["from"] != want {
				t.Errorf("%#v: %v, %v", at, got.Out, got.Failures)
			}
		}
	}
}

func TestEventTimeKeysAreFive(t *testing.T) {
	t.Parallel()
	o := with(func(o *Options) { o.Count, o.Key = 100, "shop" })
	var inputs []any
	for range 2 {
		inputs = append(inputs, pipeline.Record{"shop": nil}, pipeline.Record{}, pipeline.Record{"shop": ""}, pipeline.Record{"shop": 7}, pipeline.Record{"shop": "7"})
	}
	got := stagetest.Try(t, stagetest.Case{Type: "window", Options: o, Inputs: inputs})
	var keys []string
	for _, v := range got.Out[""] {
		r := v.(pipeline.Record)
		key, given := r["key"]
		keys = append(keys, fmt.Sprintf("%#v %v %v", key, given, r["count"]))
	}
	slices.Sort(keys)
	if want := []string{`"" true 2`, `"7" true 2`, "7 true 2", "<nil> false 2", "<nil> true 2"}; !slices.Equal(keys, want) {
		t.Errorf("keys %q, want %q", keys, want)
	}
}

// A record without the summed field is left out of its windows, and counted; one that has another thing there fails.
func TestEventTimeLeavesOutWhatHasNothingToSum(t *testing.T) {
	t.Parallel()
	o := with(func(o *Options) {
		o.Count, o.Aggregate = 100, map[string]string{"n": "count", "sum": "sum price", "all": "collect name"}
	})
	got := stagetest.Try(t, stagetest.Case{Type: "window", Options: o, Inputs: []any{
		pipeline.Record{"price": 1}, pipeline.Record{}, pipeline.Record{"price": nil}, pipeline.Record{"price": "x"}, pipeline.Record{"price": 2, "name": "b"},
	}})
	r := got.Out[""][0].(pipeline.Record)
	if len(got.Failures) != 1 || r["n"] != 2 || r["sum"] != 3 || !reflect.DeepEqual(r["all"], []any{nil, "b"}) || got.Counters["skipped"] != 2 {
		t.Errorf("%v, failures %v, counters %v", r, got.Failures, got.Counters)
	}
}

// What is late is acknowledged by itself, and takes no place from what is kept.
func TestEventTimeGivesBackThePlaceOfWhatIsLate(t *testing.T) {
	t.Parallel()
	o := with(func(o *Options) { o.Time, o.Size, o.MaxItems = "at", pipeline.Duration(time.Hour), 2 })
	late := 0
	g, _ := stagetest.Between("window", o, func(ctx context.Context, out pipeline.Emitter) error {
		if err := out.Emit(ctx, &pipeline.Item{Value: pipeline.Record{"at": "1999-12-31T10:00:00Z"}}); err != nil {
			return err
		}
		for range 100 {
			it := pipeline.NewItem(pipeline.Record{"at": "1999-12-30"}, func(pipeline.Outcome) { late++ })
			if err := out.Emit(ctx, it); err != nil {
				return err
			}
		}
		return nil
	}, func(it *pipeline.Item) error {
		if r := it.Value.(pipeline.Record); r["closed"] != "end" {
			t.Errorf("%v", r)
		}
		return nil
	})
	if _, err := g.Run(t.Context(), pipeline.RunOptions{}); err != nil || late != 100 {
		t.Errorf("%d are late, %v", late, err)
	}
}
