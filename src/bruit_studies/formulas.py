"""The formulas of claims, typeset as MathML for the page, which needs no script.

They are written in TeX, by the claim that states them: as the document has it, and the right form where it is another.
latex2mathml (MIT, pure Python, of ``bruit[figures]``) turns them into MathML.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import NamedTuple


class Formula(NamedTuple):
    """A formula as the document states it, and the right form; empty where the document's is right."""

    stated: str
    right: str = ""


_GRR = r"\frac{k-1+e^{\varepsilon}}{e^{\varepsilon}-1}"
_ALPHA = r"\alpha = \frac{8\left(\ln k + \ln\frac{2}{\beta}\right)}"


def _tail(last: str, share: str) -> str:
    """A binomial sum from 0 to `last`, which the report writes out."""
    return rf"\Pr\left[\mathrm{{Bin}}\left(n, {share}\right) \le {last}\right]"


def _eta(constant: str, below: str, above: str) -> str:
    """Both sums of the lemmas on deciles, one above the other."""
    first, second = _tail(r"\tfrac{in}{10}", below), _tail(r"\tfrac{(10-i)n}{10}", above)
    return rf"\begin{{array}}{{rl}} \eta = & {constant} {first} \\ & + {second} \end{{array}}"


_UNIFORM = (r"\tfrac{i}{10}+\tfrac{\gamma}{2}", r"1-\tfrac{i}{10}+\tfrac{\gamma}{2}")
_NORMAL = (r"\Phi(d_i+\tfrac{\gamma}{2})", r"1-\Phi(d_i-\tfrac{\gamma}{2})")

#: By claim.
FORMULAS: dict[str, Formula] = {
    "warner-observed": Formula(r"r \approx \frac{1}{4} + \frac{f}{2}"),
    "warner-unbiased": Formula(r"\hat{f} = 2r - \frac{1}{2}"),
    "warner-number": Formula(r"\hat{f} = 2r - \frac{1}{2}", r"\hat{F} = N\left(2r - \frac{1}{2}\right)"),
    "warner-ratio": Formula(
        r"\frac{\Pr[M(\mathrm{oui})=\mathrm{oui}]}{\Pr[M(\mathrm{oui})=\mathrm{oui}]} \le 3",
        r"\frac{\Pr[M(\mathrm{oui})=\mathrm{oui}]}{\Pr[M(\mathrm{non})=\mathrm{oui}]} \le 3",
    ),
    "krr-unbiased": Formula(rf"\hat{{f}}_i = {_GRR}\, r_i - \frac{{N}}{{e^{{\varepsilon}}-1}}"),
    "krr-variance": Formula(
        rf"\left({_GRR}\right)^2 \left[f_i \delta_1(1-\delta_1) + (N-f_i)\,\delta_0(1-\delta_0)\right]"
    ),
    "grr-variance": Formula(r"\mathrm{Var}[\hat{f}_i] = \frac{q(1-q)}{N(p-q)^2} + \frac{f_i(1-p-q)}{N(p-q)}"),
    "staircase-gamma": Formula(r"\gamma = -\frac{b}{1-b} + \frac{\left(b-2b^2+2b^4-b^5\right)^{1/3}}{2^{1/3}(1-b)^2}"),
    "oue-minimises": Formula(r"p = \frac{1}{2}, \quad q = \frac{1}{e^{\varepsilon}+1}"),
    "divided-budget": Formula(r"\mathrm{Var}^{*}\left(\frac{\varepsilon}{d}\right) \ge \mathrm{Var}^{*}(\varepsilon)"),
    "fakes-unbiased": Formula(r"\hat{f}_i = \frac{r_i\,d\,k - (qk + d - 1)}{(p-q)\,k}"),
    "fakes-variance": Formula(
        r"\frac{d^2}{N(p-q)^2}\left[f_i\delta_1(1-\delta_1) + \frac{1-f_i}{N}\,\delta_0(1-\delta_0)\right]",
        r"\frac{d^2}{N(p-q)^2}\left[f_i\delta_1(1-\delta_1) + (1-f_i)\,\delta_0(1-\delta_0)\right]",
    ),
    "several-person": Formula(r"\varepsilon' = \ln\left(d\,(e^{\varepsilon}-1)+1\right)"),
    "l-grr": Formula(
        r"e^{\varepsilon_2} = \frac{e^{\varepsilon_\infty+\varepsilon_1}-1}{e^{\varepsilon_\infty}-e^{\varepsilon_1}}"
    ),
    "above-threshold-alpha": Formula(_ALPHA + r"{\varepsilon}"),
    "histogram-alpha": Formula(_ALPHA + r"{\varepsilon}", _ALPHA + r"{\varepsilon/9}"),
    "lemma-deciles-uniform": Formula(_eta("2 -", *_UNIFORM), _eta("", *_UNIFORM)),
    "lemma-deciles-normal": Formula(_eta("2 -", r"\Phi(d_i)", r"1-\Phi(d_i)"), _eta("", *_NORMAL)),
    "lemma-enough-uniform": Formula(r"\beta = 2\, " + _tail(r"\alpha", r"\tfrac{\gamma}{2}")),
    "histogram-theorem": Formula(
        r"\Pr\left[\left|A_i - \tfrac{i}{10}\right| \le \gamma\right] \ge 1 - \beta - \eta - \mu"
    ),
    "theorem-normal": Formula(r"\Pr\left[\left|A_i - d_i\right| \le \gamma\right] \ge 1 - \beta - \eta - \mu"),
    "normal-deciles": Formula(r"d_i = \sqrt{2}\;\mathrm{erf}^{-1}\left(\frac{2i}{10} - 1\right)"),
    "inverse-dp": Formula(
        r"p(t) = \frac{e^{-\varepsilon\,\mathrm{len}^{\rho}_f(x,t)/2}}"
        r"{\int e^{-\varepsilon\,\mathrm{len}^{\rho}_f(x,s)/2}\,d\mu(s)}"
    ),
    "learning-mean-sensitivity": Formula(r"\frac{U-L}{n+1}"),
    "learning-variance-sensitivity": Formula(r"\frac{n\,(U-L)}{n+1}", r"\frac{n\,(U-L)^2}{(n+1)^2}"),
    "functional-sensitivity": Formula(r"\Delta = 2\,(1+d)^2"),
    "least-squares-example": Formula(
        r"\hat{\omega} = \left(X^{\top}X\right)^{-1}X^{\top}y = \left(-\frac{564}{1055},\ \frac{393}{422}\right)"
    ),
}


@cache
def mathml(tex: str) -> str:
    """A formula as MathML; nothing for nothing, or where latex2mathml is not installed (statements have it in words).

    >>> mathml("")
    ''
    """
    if not tex:
        return ""
    try:
        converter = import_module("latex2mathml.converter")
    except ImportError:
        return ""
    text: str = converter.convert(tex, display="block")
    return text
