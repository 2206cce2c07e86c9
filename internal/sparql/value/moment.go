package value

import "strconv"

// moment is a date, a time, or what of them a type has. What it lacks is of the first instant of 1972, as XPath
// compares such (XPath Functions, section 10.4).
type moment struct {
	local  int64 // seconds since 1970 by the clock of its own timezone
	nanos  int32
	offset int16 // minutes, of the timezone
	zoned  bool  // it has a timezone
}

// utc returns the instant in seconds since 1970. What has no timezone is in UTC.
func (m moment) utc() int64 { return m.local - int64(m.offset)*60 }

func (m moment) compare(o moment) int {
	switch a, b := m.utc(), o.utc(); {
	case a < b || a == b && m.nanos < o.nanos:
		return -1
	case a > b || m.nanos > o.nanos:
		return 1
	}
	return 0
}

const (
	secondsOfDay  = 86400
	reference     = 1972
	maxYearDigits = 9
)

// scanner reads the parts of a lexical form from the left; bad means that one was not there.
type scanner struct {
	rest string
	bad  bool
}

func (s *scanner) accept(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) expect(c byte) {
	if !s.accept(c) {
		s.bad = true
	}
}

// digits reads from least to most digits.
func (s *scanner) digits(least, most int) int64 {
	n, i := int64(0), 0
	for i < len(s.rest) && i < most && s.rest[i] >= '0' && s.rest[i] <= '9' {
		n = n*10 + int64(s.rest[i]-'0')
		i++
	}
	if i < least {
		s.bad = true
	}
	s.rest = s.rest[i:]
	return n
}

// two reads two digits, of a number from least to greatest.
func (s *scanner) two(least, greatest int64) int64 {
	n := s.digits(2, 2)
	if n < least || n > greatest {
		s.bad = true
	}
	return n
}

// year reads a year: a minus, four digits or more, then without leading zeros.
func (s *scanner) year() int64 {
	negative := s.accept('-')
	if len(s.rest) > 4 && s.rest[0] == '0' && s.rest[4] >= '0' && s.rest[4] <= '9' {
		s.bad = true
	}
	n := s.digits(4, maxYearDigits)
	if negative {
		return -n
	}
	return n
}

// fraction reads a point and digits, as billionths. Further digits are cut.
func (s *scanner) fraction() int32 {
	if !s.accept('.') {
		return 0
	}
	n, i := int32(0), 0
	for ; i < len(s.rest) && s.rest[i] >= '0' && s.rest[i] <= '9'; i++ {
		if i < 9 {
			n = n*10 + int32(s.rest[i]-'0')
		}
	}
	if i == 0 {
		s.bad = true
	}
	s.rest = s.rest[i:]
	for ; i < 9; i++ {
		n *= 10
	}
	return n
}

// clock reads a time of day, as seconds and billionths. 24:00:00 is the end of a day.
func (s *scanner) clock() (seconds int64, nanos int32) {
	hour := s.two(0, 24)
	s.expect(':')
	minute := s.two(0, 59)
	s.expect(':')
	second := s.two(0, 59)
	nanos = s.fraction()
	if hour == 24 && (minute != 0 || second != 0 || nanos != 0) {
		s.bad = true
	}
	return hour*3600 + minute*60 + second, nanos
}

// zone reads a timezone, if there is one, and the end.
func (s *scanner) zone(m *moment) bool {
	switch {
	case s.rest == "":
	case s.accept('Z'):
		m.zoned = true
	default:
		negative := s.rest[0] == '-'
		if !negative && s.rest[0] != '+' {
			return false
		}
		s.rest = s.rest[1:]
		hours := s.two(0, 14)
		s.expect(':')
		minutes := s.two(0, 59)
		if hours == 14 && minutes != 0 {
			return false
		}
		m.zoned, m.offset = true, int16(hours*60+minutes)
		if negative {
			m.offset = -m.offset
		}
	}
	return !s.bad && s.rest == ""
}

// day reads a month and a day of a year.
func (s *scanner) day(year int64) int64 {
	month := s.two(1, 12)
	s.expect('-')
	day := s.two(1, 31)
	if s.bad || day > daysOf(year, month) {
		s.bad = true
		return 0
	}
	return daysSince1970(year, month, day)
}

func parseDateTime(text string) (m moment, ok bool) {
	s := scanner{rest: text}
	year := s.year()
	s.expect('-')
	m.local = s.day(year) * secondsOfDay
	s.expect('T')
	seconds, nanos := s.clock()
	m.local, m.nanos = m.local+seconds, nanos
	return m, s.zone(&m)
}

func parseDate(text string) (m moment, ok bool) {
	s := scanner{rest: text}
	year := s.year()
	s.expect('-')
	m.local = s.day(year) * secondsOfDay
	return m, s.zone(&m)
}

func parseTimeOfDay(text string) (m moment, ok bool) {
	s := scanner{rest: text}
	seconds, nanos := s.clock()
	m.local, m.nanos = daysSince1970(reference, 1, 1)*secondsOfDay+seconds%secondsOfDay, nanos
	return m, s.zone(&m)
}

// parseGregorian reads a year, a month or a day alone, or two of them.
func parseGregorian(name, text string) (k kind, m moment, ok bool) {
	s := scanner{rest: text}
	year, month, day := int64(reference), int64(1), int64(1)
	switch name {
	case "gYear":
		k, year = gYear, s.year()
	case "gYearMonth":
		k, year = gYearMonth, s.year()
		s.expect('-')
		month = s.two(1, 12)
	case "gMonth":
		k, month = gMonth, s.dashes(2).two(1, 12)
	case "gMonthDay":
		k, month = gMonthDay, s.dashes(2).two(1, 12)
		s.expect('-')
		if day = s.two(1, 31); !s.bad && day > daysOf(year, month) {
			s.bad = true
		}
	case "gDay":
		k, day = gDay, s.dashes(3).two(1, 31)
	}
	if !s.bad {
		m.local = daysSince1970(year, month, day) * secondsOfDay
	}
	return k, m, s.zone(&m)
}

func (s *scanner) dashes(n int) *scanner {
	for range n {
		s.expect('-')
	}
	return s
}

func daysOf(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSince1970 counts days of the Gregorian calendar, which goes on into the past; years begin in March for it, so
// that a leap day is the last of one.
func daysSince1970(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	ofEra := year - era*400
	ofYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468
}

// calendar is the inverse of daysSince1970.
func calendar(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	ofEra := days - era*146097
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	month = (5*ofYear + 2) / 153
	day = ofYear - (153*month+2)/5 + 1
	year = yearOfEra + era*400
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	if q := a / b; a%b >= 0 {
		return q
	}
	return a/b - 1
}

// date returns the year, month and day by the moment's own clock.
func (m moment) date() (year, month, day int64) { return calendar(floorDiv(m.local, secondsOfDay)) }

// clock returns the seconds since midnight by the moment's own clock.
func (m moment) clock() int64 { return m.local - floorDiv(m.local, secondsOfDay)*secondsOfDay }

// appendDateTime appends the canonical form of an xsd:dateTime, in its own timezone.
func (m moment) appendDateTime(b []byte) []byte {
	return m.appendZone(m.appendClock(append(m.appendDate(b), 'T')))
}

func (m moment) appendDate(b []byte) []byte {
	year, month, day := m.date()
	if year < 0 {
		b = append(b, '-')
		year = -year
	}
	for least := int64(1000); least > year && least > 1; least /= 10 {
		b = append(b, '0')
	}
	b = strconv.AppendInt(b, year, 10)
	b = appendTwo(append(b, '-'), month)
	return appendTwo(append(b, '-'), day)
}

func (m moment) appendClock(b []byte) []byte {
	clock := m.clock()
	b = appendTwo(b, clock/3600)
	b = appendTwo(append(b, ':'), clock/60%60)
	b = appendTwo(append(b, ':'), clock%60)
	if m.nanos != 0 {
		b = append(b, '.')
		b = appendFraction(b, m.nanos)
	}
	return b
}

// appendZone appends a timezone as texts have it: Z, -08:00, nothing.
func (m moment) appendZone(b []byte) []byte {
	if !m.zoned {
		return b
	}
	offset := int64(m.offset)
	switch {
	case offset == 0:
		return append(b, 'Z')
	case offset < 0:
		b = append(b, '-')
		offset = -offset
	default:
		b = append(b, '+')
	}
	b = appendTwo(b, offset/60)
	return appendTwo(append(b, ':'), offset%60)
}

func appendTwo(b []byte, n int64) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

func appendFraction(b []byte, nanos int32) []byte {
	digits := [9]byte{}
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + nanos%10)
		nanos /= 10
	}
	end := len(digits)
	for digits[end-1] == '0' {
		end--
	}
	return append(b, digits[:end]...)
}
