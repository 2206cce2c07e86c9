package urdimport

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/xmlschema/cron"
)

// windows are the hours of the week in which changedetection.io looks at a watch (time_schedule_limit): on each day
// that is enabled, for a while from a time on.
type windows struct {
	Enabled  bool   `json:"enabled"`
	Timezone string `json:"timezone"`
	days     [7]window
}

type window struct {
	Enabled  bool   `json:"enabled"`
	Start    string `json:"start_time"`
	Duration interval
}

// UnmarshalJSON reads windows with their days. What is not as expected is as if it were not there.
func (w *windows) UnmarshalJSON(raw []byte) error {
	type plain windows
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, (*plain)(w)) != nil || json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	for day := range w.days {
		name := strings.ToLower(time.Weekday(day).String())
		if fields[name] != nil && json.Unmarshal(fields[name], &w.days[day]) != nil {
			w.days[day] = window{}
		}
	}
	return nil
}

// always reports whether there is no time outside of the windows.
func (w windows) always() bool {
	for _, open := range w.days {
		if !open.Enabled || open.Duration.duration() < 24*time.Hour {
			return false
		}
	}
	return true
}

var startTime = regexp.MustCompile(`^([01]?[0-9]|2[0-3]):([0-5][0-9])$`)

const dayMinutes = 24 * 60

// times returns what asks at the beginning of each window, and again after each interval in it; false if that cannot be
// said in one cron expression. In a week that begins on Sunday, these are numbers of minutes.
func (w windows) times(every time.Duration) (line string, ok bool) {
	step := int(every / time.Minute)
	if step <= 0 || every > 24*time.Hour || every%time.Minute != 0 {
		return "", false
	}
	var all []int
	for day, open := range w.days {
		m := startTime.FindStringSubmatch(open.Start)
		length := int(open.Duration.duration() / time.Minute)
		if !open.Enabled || m == nil || length <= 0 {
			continue
		}
		hour, _ := strconv.Atoi(m[1])
		minute, _ := strconv.Atoi(m[2])
		begins := day*dayMinutes + hour*60 + minute
		for at := begins; at < begins+min(length, dayMinutes); at += step {
			all = append(all, at%(7*dayMinutes))
		}
	}
	return expression(all, w.Timezone)
}

// expression writes minutes of the week as a cron expression, if each of its minutes, hours and days goes with all
// others.
func expression(all []int, zone string) (line string, ok bool) {
	var minutes, hours, days []int
	for _, at := range all {
		minutes, hours, days = append(minutes, at%60), append(hours, at/60%24), append(days, at/dayMinutes)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	line = strings.TrimSpace(fmt.Sprintf("%s %s * * %s %s", numbers(&minutes, 60), numbers(&hours, 24), numbers(&days, 7), zone))
	if len(all) == 0 || len(minutes)*len(hours)*len(days) != len(all) {
		return "", false
	}
	_, err := cron.Parse(line)
	return line, err == nil
}

// numbers sorts numbers, each once, and writes them as a field of a cron expression: * for as many as there are.
func numbers(all *[]int, most int) string {
	slices.Sort(*all)
	*all = slices.Compact(*all)
	if len(*all) == most {
		return "*"
	}
	if step := stepOf(*all, most); step > 0 {
		return fmt.Sprintf("*/%d", step)
	}
	var parts []string
	for i := 0; i < len(*all); {
		end := i
		for end+1 < len(*all) && (*all)[end+1] == (*all)[end]+1 {
			end++
		}
		switch part := strconv.Itoa((*all)[i]); {
		case end > i+1:
			parts = append(parts, part+"-"+strconv.Itoa((*all)[end]))
			i = end + 1
		default:
			parts = append(parts, part)
			i++
		}
	}
	return strings.Join(parts, ",")
}

// stepOf returns n if the numbers are 0, n, 2n and so on up to most; 0 otherwise.
func stepOf(all []int, most int) int {
	if len(all) < 3 || all[0] != 0 || most%len(all) != 0 || most == 7 {
		return 0
	}
	step := most / len(all)
	for i, n := range all {
		if n != i*step {
			return 0
		}
	}
	return step
}
