package sparql

import (
	"context"
	"errors"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

// computation is an expression that has been compiled for a row: it computes with what that binds. truth is one of
// which the effective boolean value is asked.
type (
	computation func() (webrace.Term, error)
	truth       func() (bool, error)
)

var errUnbound = errors.New("an unbound variable")

// ended ends the query if an error of an expression is one that does.
func (x *execution) ended(err error) {
	switch {
	case errors.Is(err, value.ErrTooLong):
		x.fail(&LimitError{err.Error()})
	case x.ctx.Err() != nil:
		x.fail(context.Cause(x.ctx))
	}
}

// compute compiles an expression. Variables that are not visible are not in its scope, though the row may bind them.
func (p *planner) compute(e expression, visible varSet, env environment) computation {
	x := p.x
	if !p.affords() {
		return func() (webrace.Term, error) { return "", x.err }
	}
	switch e := e.(type) {
	case *termExpr:
		return func() (webrace.Term, error) { return e.term, nil }
	case *variableExpr:
		if !visible.has(e.variable) {
			return func() (webrace.Term, error) { return "", errUnbound }
		}
		row, v := env.row, e.variable
		return func() (webrace.Term, error) {
			if row[v] == 0 {
				return "", errUnbound
			}
			return x.term(row[v]), x.err
		}
	case *chainExpr:
		return p.chain(e, visible, env)
	case *callExpr:
		return p.call(e, visible, env)
	case *operatorExpr:
		switch e.operator {
		case "+", "-":
			return p.sign(e, visible, env)
		case "IF":
			return p.choice(e, visible, env)
		case "COALESCE":
			return p.coalesce(e, visible, env)
		}
	}
	is := p.truth(e, visible, env)
	return func() (webrace.Term, error) {
		b, err := is()
		return value.Of(b), err
	}
}

func (p *planner) computeAll(all []expression, visible varSet, env environment) []computation {
	computations := make([]computation, len(all))
	for i, e := range all {
		computations[i] = p.compute(e, visible, env)
	}
	return computations
}

func (p *planner) chain(e *chainExpr, visible varSet, env environment) computation {
	x, first, rest := p.x, p.compute(e.first, visible, env), p.computeAll(e.rest, visible, env)
	return func() (webrace.Term, error) {
		sum, err := first()
		for i := 0; i < len(rest) && err == nil && x.step(); i++ {
			var next webrace.Term
			if next, err = rest[i](); err == nil {
				sum, err = value.Arithmetic(e.operators[i], sum, next)
			}
		}
		return sum, err
	}
}

func (p *planner) sign(e *operatorExpr, visible varSet, env environment) computation {
	of := p.compute(e.arguments[0], visible, env)
	return func() (webrace.Term, error) {
		t, err := of()
		switch {
		case err != nil:
			return "", err
		case e.operator == "-":
			return value.Negate(t)
		default:
			return value.Arithmetic('+', zero, t)
		}
	}
}

var zero = rdf.NewTyped("0", rdf.XSDInteger)

func (p *planner) call(e *callExpr, visible varSet, env environment) computation {
	arguments, terms := p.computeAll(e.arguments, visible, env), make([]webrace.Term, len(e.arguments))
	x := p.x
	return func() (t webrace.Term, err error) {
		x.step()
		for i, argument := range arguments {
			if terms[i], err = argument(); err != nil {
				return "", err
			}
			x.read(terms[i])
		}
		if t, err = value.Call(e.name, terms, x.env); err != nil {
			x.ended(err)
		}
		x.read(t)
		x.called()
		return t, err
	}
}

func (p *planner) choice(e *operatorExpr, visible varSet, env environment) computation {
	is := p.truth(e.arguments[0], visible, env)
	then := p.computeAll(e.arguments[1:], visible, env)
	return func() (webrace.Term, error) {
		switch ok, err := is(); {
		case err != nil:
			return "", err
		case ok:
			return then[0]()
		default:
			return then[1]()
		}
	}
}

func (p *planner) coalesce(e *operatorExpr, visible varSet, env environment) computation {
	x, all := p.x, p.computeAll(e.arguments, visible, env)
	return func() (webrace.Term, error) {
		for i := 0; i < len(all) && x.step(); i++ {
			if t, err := all[i](); err == nil {
				return t, nil
			}
		}
		return "", errUnbound
	}
}

// truth compiles an expression of which the effective boolean value is asked (section 17.2.2).
func (p *planner) truth(e expression, visible varSet, env environment) truth {
	if x := p.x; !p.affords() {
		return func() (bool, error) { return false, x.err }
	}
	switch e := e.(type) {
	case *existsExpr:
		return p.exists(e, visible, env)
	case *operatorExpr:
		switch e.operator {
		case "||", "&&":
			return p.logic(e, visible, env)
		case "!":
			is := p.truth(e.arguments[0], visible, env)
			return func() (bool, error) {
				ok, err := is()
				return !ok && err == nil, err
			}
		case "BOUND":
			v := e.arguments[0].(*variableExpr).variable
			if !visible.has(v) {
				return func() (bool, error) { return false, nil }
			}
			return func() (bool, error) { return env.row[v] != 0, nil }
		case "IN", "NOT IN":
			return p.in(e, visible, env)
		case "=", "!=", "<", "<=", ">", ">=":
			return p.comparison(e, visible, env)
		}
	}
	of := p.compute(e, visible, env)
	return func() (bool, error) {
		t, err := of()
		if err != nil {
			return false, err
		}
		return value.Boolean(t)
	}
}

// logic is || and && of any number of arguments: an error counts only where the others do not decide (section 17.2).
func (p *planner) logic(e *operatorExpr, visible varSet, env environment) truth {
	all := make([]truth, len(e.arguments))
	for i, argument := range e.arguments {
		all[i] = p.truth(argument, visible, env)
	}
	x, decides := p.x, e.operator == "||"
	return func() (bool, error) {
		var failed error
		for i := 0; i < len(all) && x.step(); i++ {
			switch ok, err := all[i](); {
			case err != nil:
				failed = err
			case ok == decides:
				return decides, nil
			}
		}
		return !decides && failed == nil, failed
	}
}

func (p *planner) comparison(e *operatorExpr, visible varSet, env environment) truth {
	if is := p.sameIRI(e, visible, env); is != nil {
		return is
	}
	x, left, right := p.x, p.compute(e.arguments[0], visible, env), p.compute(e.arguments[1], visible, env)
	return func() (bool, error) {
		a, err := left()
		if err != nil {
			return false, err
		}
		b, err := right()
		if err != nil {
			return false, err
		}
		x.read(a)
		x.read(b)
		return value.Compare(e.operator, a, b)
	}
}

// sameIRI compiles ?x = <iri> and ?x != <iri>, for which no text is needed.
func (p *planner) sameIRI(e *operatorExpr, visible varSet, env environment) truth {
	v, isVariable := e.arguments[0].(*variableExpr)
	iri, isTerm := e.arguments[1].(*termExpr)
	if !isVariable || !isTerm {
		v, isVariable = e.arguments[1].(*variableExpr)
		iri, isTerm = e.arguments[0].(*termExpr)
	}
	if !isVariable || !isTerm || !visible.has(v.variable) || rdf.KindOf(iri.term) != rdf.IRI ||
		e.operator != "=" && e.operator != "!=" {
		return nil
	}
	x, id, row, at := p.x, p.x.id(iri.term), env.row, v.variable
	return func() (bool, error) {
		if row[at] == 0 {
			return false, errUnbound
		}
		same := row[at] == id || row[at]&passingID == passingID && x.term(row[at]) == iri.term
		return same == (e.operator == "="), nil
	}
}

func (p *planner) in(e *operatorExpr, visible varSet, env environment) truth {
	x, all := p.x, p.computeAll(e.arguments, visible, env)
	return func() (bool, error) {
		one, err := all[0]()
		if err != nil {
			return false, err
		}
		var failed error
		for i := 1; i < len(all) && x.step(); i++ {
			t, err := all[i]()
			if err == nil {
				x.read(one)
				x.read(t)
				var same bool
				if same, err = value.Compare("=", one, t); same && err == nil {
					return e.operator == "IN", nil
				}
			}
			if err != nil {
				failed = err
			}
		}
		return e.operator == "NOT IN" && failed == nil, failed
	}
}

// exists compiles a pattern that is looked for with what the row binds (section 18.6, substitute).
func (p *planner) exists(e *existsExpr, visible varSet, env environment) truth {
	env.outer, env.substituted, env.certain = visible, visible, nil
	env.once = false
	pattern := p.compile(e.pattern, nil, env)
	x := p.x
	return func() (bool, error) {
		pattern.open()
		found := pattern.next()
		if found {
			pattern.undo()
		}
		return found != e.not, x.err
	}
}
