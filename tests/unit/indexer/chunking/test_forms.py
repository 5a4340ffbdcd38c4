"""Names that languages without a grammar define, told by how their lines begin."""

import pytest

from services.indexer.core.chunking import definitions
from services.indexer.core.chunking.forms import _FORMS

# Source and the paths of its definitions, in order.
SAMPLES = {
    "haskell": (
        """module Data.Shape (area) where
import Data.List
-- | How large.
area :: Shape -> Double
area (Square a) = a * a
area (Circle r) = pi * r
  where pi = 3
data Shape = Square Double | Circle Double
newtype Wrapper a = Wrapper { unwrap :: a }
class Monad m => Layout m where
  run :: m a
instance (Show a) => Show (Wrapper a) where
  show = undefined
plain x = x
kill :: X ()
kill = pure ()
""",
        "Data.Shape area Shape Wrapper Layout Show+(Wrapper+a) plain kill",
    ),
    "purescript": ("module Main where\nmain :: Effect Unit\nmain = log\n", "Main main"),
    "elm": ("module Main exposing (..)\ntype alias Model = Int\nview : Model -> Html\nview model =\n    text\n", "Main Model view"),
    "ocaml": ("open List\nlet rec fold f = ()\nlet () = ()\ntype 'a tree = Leaf\nmodule M = struct\n  val x : int\nend\n", "fold tree M M.x"),
    "fsharp": ("module Shop.Cart\nlet inline add x = x\ntype Cart() =\n    member this.Total = 1\n", "Shop.Cart add Cart Cart.Total"),
    "reason": ("let add = (a, b) => a;\ntype t = int;\n", "add t"),
    "lisp": ("(defun area (r) r)\n(defvar *depth* 3)\n(setq x 1)\n", "area *depth*"),
    "scheme": ("(define (area r) r)\n(define pi 3)\n(display pi)\n", "area pi"),
    "clojure": ("(ns shop.core)\n(defn ^:private total [xs]\n  (reduce + xs))\n(defmethod draw :square [x] x)\n", "total draw"),
    "erlang": ("-module(shop).\n-record(item, {name}).\ntotal([]) -> 0;\ntotal([H|T]) -> H.\n", "shop item total"),
    "prolog": ("parent(tom, bob).\nparent(bob, ann).\nolder(X, Y) :- parent(X, Y).\n", "parent older"),
    "fortran": (
        "module shapes\ncontains\n  pure real function area(r)\n  end function area\n  SUBROUTINE draw(x)\n  end subroutine\nend module\n",
        "shapes shapes.area shapes.draw",
    ),
    "pascal": ("unit Shop;\ntype\n  TCart = class\n  end;\nprocedure TCart.Add(x: Integer);\nbegin\nend;\n", "Shop Shop.TCart TCart.Add"),
    "ada": ("package body Shop is\n   function Total return Integer is\n   begin\n   end;\nend Shop;\n", "Shop Shop.Total"),
    "protobuf": ('syntax = "proto3";\nmessage Cart {\n  string id = 1;\n}\nservice Shop {\n  rpc Add (Item) returns (Cart);\n}\n', "Cart Shop Shop.Add"),
    "thrift": ("struct Cart {\n  1: string id\n}\nservice Shop {\n}\n", "Cart Shop"),
    "graphql": ("type Cart implements Node {\n  id: ID!\n}\nextend type Query {\n}\n", "Cart Query"),
    "verilog": ("module counter (input clk);\n  task automatic tick(); endtask\nendmodule\n", "counter counter.tick"),
    "vhdl": ("entity counter is\nend;\narchitecture rtl of counter is\nbegin\nend;\n", "counter rtl"),
    "r": ("area <- function(r) {\n  r\n}\nx <- 3\nprint.cart = function(x) x\n", "area print.cart"),
    "julia": ("struct Cart\nend\narea(r) = r\nfunction total(xs)\nend\n", "Cart area total"),
    "solidity": ("contract Shop {\n  event Sold(uint a);\n  function buy() public {\n  }\n}\n", "Shop Shop.Sold Shop.buy"),
    "zig": ("pub const Cart = struct {\n    pub fn add(self: *Cart) void {}\n};\n", "Cart Cart.add"),
    "tcl": ("namespace eval shop {\n  proc total {xs} {}\n}\nproc ::shop::add {x} {}\n", "shop shop.total .shop.add"),
    "vim": ("function! shop#total(xs) abort\nendfunction\nlet x = 1\n", "shop#total"),
    "cmake": ("function(add_shop name)\nendfunction()\nproject(shop)\nMACRO(Other)\n", "add_shop Other"),
    "makefile": ("CC := gcc\n.PHONY: all\nall: build test\nbuild/%.o: %.c\n\t$(CC) -c $<\ndefine recipe\nendef\n", "all build/%.o recipe"),
    "just": ("set shell := ['sh']\ntest *args:\n    pytest\nx := '1'\n", "test"),
    "m4": ("AC_DEFUN([SHOP_CHECK],\n[AC_MSG_CHECKING([x])])\nAC_INIT([shop])\n", "SHOP_CHECK"),
    "assembly": ("\t.text\nmain:\n\tpush rbp\n.L2:\n\tret\n", "main"),
    "batch": ("@echo off\ncall :total\n:total\nexit /b\n", "total"),
    "powershell": ("function Get-Total {\n}\nFilter Skip-It { }\n", "Get-Total Skip-It"),
    "visualbasic": ("Public Class Cart\n  Private Sub Add(x)\n  End Sub\nEnd Class\n", "Cart Cart.Add"),
    "coffeescript": ("class Cart\n  total: (xs) ->\n    1\nadd = -> 2\n", "Cart Cart.total add"),
    "objective-c": ("@implementation Cart\n- (int)total:(int)x {\n}\n@end\nstatic int helper(int a) {\n}\n", "Cart total helper"),
    "yacc": ("%token A\n%%\nexpr : expr '+' term\n     | term ;\nterm: A ;\n%%\nstatic int printflike(1, 2)\nmain(int argc)\n{\nout:\n}\n", "expr term main"),
    "bash": ("broken() {\n  if [ $x; then\n}\nfunction other {\n:\n}\n", "broken other"),
    "unknown": ("class Cart\n  def total(xs)\n  end\nend\nx = 1\n", "Cart Cart.total"),
}  # fmt: skip


@pytest.mark.parametrize("language", SAMPLES)
def test_names_are_told_by_how_their_lines_begin(language: str) -> None:
    """And nothing else is taken for one: no call, no constructor of a type, no second equation."""
    source, paths = SAMPLES[language]
    assert [d.path for d in definitions(source, language)] == [path.replace("+", " ") for path in paths.split()]


def test_every_language_with_forms_of_its_own_has_a_sample() -> None:
    """A row of the table that nobody tries is a row that may be wrong."""
    assert set(_FORMS) <= set(SAMPLES)


def test_title_that_stands_apart_belongs_to_what_follows() -> None:
    """Between two blank lines, above the comment of a definition; the remark under a definition stays with that."""
    source = """\
module A where

one :: Int
one = 1
-- remark

-- ------
-- Part

-- | The second.
two :: Int
two = 2
"""
    assert [(d.path, d.start_line, d.end_line) for d in definitions(source, "haskell")] == [
        ("A", 1, 2),
        ("one", 3, 6),
        ("two", 7, 13),
    ]


def test_target_ends_with_its_recipe() -> None:
    """What follows in the first column is not about the target above it."""
    source = "all: a \\\n  b\n\tcc a\n\n\tcc b\nX = 1\nclean:\n\trm a\n"
    assert [(d.path, d.start_line, d.end_line) for d in definitions(source, "makefile")] == [
        ("all", 1, 5),
        ("clean", 7, 9),
    ]
