"""One short source per language and the chunks it must give: borders, headings, symbols.

Each line weighs 60 tokens here, so that a chunk holds about five and sources stay short.
"""

import pytest

from services.indexer.core.chunking import chunk
from services.indexer.core.chunking.grammars import GRAMMARS

LINE_TOKENS = 60

SOURCES = {
    "python": """\
\"\"\"Shapes.\"\"\"

import math

# How many sides.
SIDES = 4


@dataclass
class Square(Shape):
    \"\"\"A square.\"\"\"

    side: float = 1.0

    def area(self):
        text = \"\"\"
def not_a_function():
\"\"\"
        return self.side ** 2

    # The length around.
    @property
    def perimeter(self):
        if self.side < 0:
            raise ValueError(
                self.side,
            )
        else:
            return SIDES * self.side


async def main(
    argv,
):
    def inner():
        return 1

    return inner()
""",
    "javascript": """\
import { base } from "./base";

/**
 * Adds numbers.
 */
export function add(a, b) {
  return a + b;
}

export default class Shape extends base {
  #sides = 4;

  handler = () => {
    return 1;
  };

  /** The area. */
  area() {
    return this.width * this.height;
  }
}

const mul = (a, b) => {
  return a * b;
};

module.exports.div = function (a, b) {
  return a / b;
};
""",
    "typescript": """\
export interface Props {
  name: string;
  run(): void;
}

export type Id = string | number;

@Injectable()
export class Service {
  constructor(private store: Store) {}

  // Runs it.
  async run<T>(value: T): Promise<T> {
    return value;
  }
}

namespace Shapes {
  export function area(side: number): number {
    return side * side;
  }
}

export const useShape = () => {
  return 1;
};
""",
    "tsx": """\
type Props = { name: string };

export const Button = (props: Props) => {
  return <button>{props.name}</button>;
};

export default function Page(): JSX.Element {
  return (
    <main>
      <Button name="go" />
    </main>
  );
}
""",
    "java": """\
package shapes;

import java.util.List;

/** A square. */
@Deprecated
public class Square<T> implements Shape {
    private int side = 1;

    public Square(int side) {
        this.side = side;
    }

    /** The area. */
    @Override
    public int area() {
        return side * side;
    }

    enum Color {
        RED, GREEN
    }
}

record Point(int x, int y) {}
""",
    "go": """\
package main

import "fmt"

// Point is a place.
type Point struct {
	X, Y int
}

// String shows it.
func (p *Point) String() string {
	return fmt.Sprint(p.X, p.Y)
}

func (l List[T]) Len() int {
	return len(l.items)
}

func main() {
	fmt.Println(Point{})
}
""",
    "rust": """\
use std::fmt;

/// A point.
#[derive(Debug)]
pub struct Point<T> {
    x: T,
}

impl<T> Point<T> {
    /// Makes one.
    #[inline]
    pub fn new(x: T) -> Self {
        Self { x }
    }

    fn x(&self) -> &T {
        &self.x
    }
}

impl fmt::Display for Point<i32> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.x)
    }
}
""",
    "c": """\
#ifndef SHAPES_H
#define SHAPES_H
#include <stdio.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* A point. */
struct point {
    int x;
};

typedef struct {
    int side;
} square_t;

static int *add(int *a, int b)
{
    *a += b;
    return a;
}

#ifdef EXTRA
int extra(void)
{
    return 1;
}
#endif
#endif
""",
    "cpp": """\
#include <vector>

namespace shapes {

// A square.
template <typename T>
class Square : public Shape {
 public:
  Square();
  ~Square() {}
  T area() const {
    return side * side;
  }
 private:
  T side;
};

int Square::perimeter(int side) {
  return 4 * side;
}

}  // namespace shapes
""",
    "sql": """\
-- People.
CREATE TABLE users (
    id INT PRIMARY KEY,
    name TEXT
);

CREATE VIEW adults AS
SELECT * FROM users
WHERE age > 17;

CREATE INDEX by_name ON users (name);

CREATE FUNCTION inc(i integer) RETURNS integer AS $$
    SELECT i + 1;
$$ LANGUAGE sql;
""",
    "bash": """\
#!/bin/bash
set -e

# Says how.
usage() {
  echo "usage"
  exit 1
}

function run {
  ls
}

run "$@"
""",
    "ruby": """\
module Shapes
  # A square.
  class Square < Shape
    def initialize(side)
      @side = side
    end

    def self.unit
      new(1)
    end
  end
end
""",
    "php": """\
<?php
namespace Shapes;

/** A square. */
class Square extends Shape {
    public function area(): int {
        return $this->side ** 2;
    }

    private function side(): int {
        return 1;
    }
}

function top() {
    return 1;
}
""",
    "csharp": """\
using System;

namespace Shapes
{
    /// <summary>A square.</summary>
    [Serializable]
    public class Square : Shape
    {
        public int Side { get; set; }

        public int Area()
        {
            return Side * Side;
        }
    }
}
""",
    "kotlin": """\
package shapes

/** A square. */
class Square(val side: Int) : Shape {
    fun area(): Int {
        return side * side
    }

    companion object {
        fun unit() = Square(1)
    }
}

fun main() {
    println(Square(2))
}
""",
    "scala": """\
package shapes

class Square(side: Int) {
  def area: Int = {
    side * side
  }
}

object Square {
  def unit(): Square = {
    new Square(1)
  }
}
""",
    "swift": """\
import Foundation

/// A square.
class Square: Shape {
    var side = 1

    func area() -> Int {
        return side * side
    }
}

extension Square {
    func perimeter() -> Int {
        return 4 * side
    }
}
""",
    "lua": """\
local M = {}

-- Runs it.
function M.run(a)
  return a
end

local function private()
  return 1
end

return M
""",
    "css": """\
.a, .b {
  color: red;
}

@media (max-width: 100px) {
  .c {
    color: blue;
  }
}
""",
    "elixir": """\
defmodule Shapes do
  # The area.
  def area(side) do
    side * side
  end

  defp check(side) do
    side > 0
  end
end
""",
}

GOLDEN = {
    "python": [
        (1, 6, "", ""),
        (9, 13, "Square", "Square"),
        (15, 19, "Square.area", "area"),
        (21, 23, "Square.perimeter", "perimeter"),
        (24, 25, "Square.perimeter", ""),
        (26, 29, "Square.perimeter", ""),
        (32, 34, "main", "main"),
        (35, 38, "main.inner", "inner"),
    ],
    "javascript": [
        (1, 1, "", ""),
        (3, 6, "add", "add"),
        (7, 8, "add", ""),
        (10, 11, "Shape", "Shape"),
        (13, 15, "Shape.handler", "handler"),
        (17, 21, "Shape.area", "area"),
        (23, 25, "mul", "mul"),
        (27, 29, "module.exports.div", "div"),
    ],
    "typescript": [
        (1, 6, "", "Props run Id"),
        (8, 10, "Service", "Service constructor"),
        (12, 16, "Service.run", "run"),
        (18, 22, "Shapes", "Shapes area"),
        (24, 26, "useShape", "useShape"),
    ],
    "tsx": [
        (1, 1, "Props", "Props"),
        (3, 5, "Button", "Button"),
        (7, 10, "Page", "Page"),
        (11, 13, "Page", ""),
    ],
    "java": [
        (1, 3, "", ""),
        (5, 8, "Square", "Square"),
        (10, 12, "Square", "Square"),
        (14, 18, "Square.area", "area"),
        (20, 23, "Square.Color", "Color"),
        (25, 25, "Point", "Point"),
    ],
    "go": [
        (1, 3, "", ""),
        (5, 8, "Point", "Point"),
        (10, 13, "Point.String", "String"),
        (15, 17, "List.Len", "Len"),
        (19, 21, "main", "main"),
    ],
    "rust": [
        (1, 1, "", ""),
        (3, 7, "Point", "Point"),
        (9, 9, "Point", ""),
        (10, 14, "Point.new", "new"),
        (16, 19, "Point.x", "x"),
        (21, 25, "Point", "fmt"),
    ],
    "c": [
        (1, 3, "", ""),
        (5, 10, "", "MAX point"),
        (12, 14, "square_t", "square_t"),
        (16, 20, "add", "add"),
        (22, 22, "", ""),
        (23, 26, "extra", "extra"),
        (27, 28, "", ""),
    ],
    "cpp": [
        (1, 1, "", ""),
        (3, 3, "shapes", "shapes"),
        (5, 9, "shapes.Square", "Square"),
        (10, 10, "shapes.Square.~Square", "~Square"),
        (11, 13, "shapes.Square.area", "area"),
        (14, 16, "shapes.Square", ""),
        (18, 22, "shapes.Square.perimeter", "perimeter"),
    ],
    "sql": [
        (1, 5, "users", "users"),
        (7, 11, "", "adults by_name"),
        (13, 15, "inc", "inc"),
    ],
    "bash": [
        (1, 2, "", ""),
        (4, 8, "usage", "usage"),
        (10, 12, "run", "run"),
        (14, 14, "", ""),
    ],
    "ruby": [
        (1, 3, "Shapes", "Shapes Square"),
        (4, 6, "Shapes.Square.initialize", "initialize"),
        (8, 12, "Shapes.Square.unit", "unit"),
    ],
    "php": [
        (1, 2, "Shapes", "Shapes"),
        (4, 8, "Square", "Square area"),
        (10, 13, "Square.side", "side"),
        (15, 17, "top", "top"),
    ],
    "csharp": [
        (1, 1, "", ""),
        (3, 4, "Shapes", "Shapes"),
        (5, 9, "Shapes.Square", "Square Side"),
        (11, 12, "Shapes.Square.Area", "Area"),
        (13, 16, "Shapes.Square.Area", ""),
    ],
    "kotlin": [
        (1, 1, "", ""),
        (3, 7, "Square", "Square area"),
        (9, 12, "Square", ""),
        (14, 16, "main", "main"),
    ],
    "scala": [
        (1, 1, "", ""),
        (3, 7, "Square", "Square area"),
        (9, 13, "Square", "Square unit"),
    ],
    "swift": [
        (1, 1, "", ""),
        (3, 5, "Square", "Square"),
        (7, 10, "Square.area", "area"),
        (12, 16, "Square", "Square perimeter"),
    ],
    "lua": [
        (1, 1, "", ""),
        (3, 6, "M.run", "run"),
        (8, 10, "private", "private"),
        (12, 12, "", ""),
    ],
    "css": [
        (1, 3, ".a, .b", ""),
        (5, 9, "(max-width: 100px)", ""),
    ],
    "elixir": [
        (1, 1, "Shapes", "Shapes"),
        (2, 5, "Shapes.area", "area"),
        (7, 10, "Shapes.check", "check"),
    ],
}


def count_lines(text: str) -> int:
    """Count a fixed number of tokens for each line that is not blank."""
    return 2 + LINE_TOKENS * sum(1 for line in text.split("\n") if line.strip())


@pytest.mark.parametrize("language", GOLDEN)
def test_source_is_cut_at_its_definitions(language: str) -> None:
    """Golden tests for each language of the table; comments and decorators stay with what they lead."""
    chunks = chunk(SOURCES[language], kind="code", language=language, count=count_lines)
    assert [(c.start_line, c.end_line, c.heading, " ".join(c.symbols)) for c in chunks] == GOLDEN[language]


def test_every_language_of_the_table_has_a_golden_source() -> None:
    """A grammar without a test is a grammar that may have been renamed under us."""
    assert set(GRAMMARS) <= set(GOLDEN)
