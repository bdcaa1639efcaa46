#pragma once
#include "../../acl/acl.h"
#include "../pto-inst.hpp"
